#include <variant>

#include "common/rng.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

using namespace wire;

TEST_CASE("what is encoded decodes equal", "[property][wire]") {
  const auto seed = GENERATE(range(0, 100));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  for (std::size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    const Message message = testing::random_message(rng, type);
    INFO(type_name(message));
    const auto decoded = decode(encode(message));
    REQUIRE(decoded.has_value());
    REQUIRE(*decoded == message);
  }
}

TEST_CASE("a frame cut anywhere is refused", "[property][wire]") {
  const auto seed = GENERATE(range(0, 5));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  for (std::size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    const Frame frame = encode(testing::random_message(rng, type));
    for (std::size_t part = 0; part < frame.parts.size(); ++part) {
      for (std::size_t size = 0; size < frame.parts[part].size(); ++size) {
        Frame cut = frame;
        cut.parts[part].resize(size);
        REQUIRE_FALSE(decode(cut).has_value());
      }
    }
  }
}

TEST_CASE("a frame with something added is refused", "[property][wire]") {
  Rng rng(Seed{1});
  for (std::size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    const Frame frame = encode(testing::random_message(rng, type));
    for (std::size_t part = 0; part < frame.parts.size(); ++part) {
      Frame longer = frame;
      longer.parts[part].push_back(std::byte{0});
      REQUIRE_FALSE(decode(longer).has_value());
    }
    Frame more = frame;
    more.parts.emplace_back();
    REQUIRE_FALSE(decode(more).has_value());
  }
}

TEST_CASE("whatever a damaged frame decodes to is a valid message", "[property][wire]") {
  const auto seed = GENERATE(range(0, 200));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  for (std::size_t type = 0; type < std::variant_size_v<Message>; ++type) {
    Frame frame = encode(testing::random_message(rng, type));
    Bytes& part = frame.parts[rng.below(frame.parts.size())];
    if (part.empty()) continue;
    part[rng.below(part.size())] ^= std::byte(1 + rng.below(255));
    const auto decoded = decode(frame);
    if (!decoded) continue;
    const auto again = decode(encode(*decoded));
    REQUIRE(again.has_value());
    REQUIRE(*again == *decoded);
  }
}

TEST_CASE("random sequences are valid", "[property][experience]") {
  const auto seed = GENERATE(range(0, 200));
  INFO("seed " << seed);
  Rng rng(Seed{static_cast<std::uint64_t>(seed)});
  const auto valid = validate(testing::random_sequences(rng));
  INFO((valid ? "" : valid.error().detail));
  REQUIRE(valid.has_value());
}

}  // namespace
}  // namespace pacml
