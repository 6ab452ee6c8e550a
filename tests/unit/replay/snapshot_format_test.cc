#include "replay/snapshot_format.h"

#include <cstring>
#include <sstream>
#include <string>

#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

std::istringstream stream_of(const Bytes& bytes) {
  return std::istringstream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Bytes framed(const Block& block) {
  Bytes bytes = encode_frame(block);
  bytes.insert(bytes.end(), block.bytes.begin(), block.bytes.end());
  return bytes;
}

}  // namespace

TEST_CASE("a snapshot's header survives its bytes") {
  SnapshotHeader header;
  header.config = "capacity: 7\n";
  header.sampler_rng = Rng(Seed{1}).state();
  header.remover_rng = Rng(Seed{2}).state();
  header.limiter = {3, 4};
  header.counters.updates_refused = 5;
  header.next_insertion = 6;
  header.unused = 7;
  header.free = {{1, 2}, {0, 9}};
  header.items = 5;
  header.extra = Bytes(3, std::byte{8});
  const Bytes bytes = encode_header(header);
  const auto read = decode_header(bytes);
  REQUIRE(read.has_value());
  CHECK(read->config == header.config);
  CHECK(read->sampler_rng == header.sampler_rng);
  CHECK(read->remover_rng == header.remover_rng);
  CHECK(read->limiter == header.limiter);
  CHECK(read->counters == header.counters);
  CHECK(read->next_insertion == 6);
  CHECK(read->unused == 7);
  CHECK(read->free == header.free);
  CHECK(read->items == 5);
  CHECK(read->extra == header.extra);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_FALSE(decode_header(std::span(bytes).first(length)).has_value());
  }
}

TEST_CASE("records follow one another") {
  const Bytes payload(11, std::byte{3});
  Bytes bytes;
  append_record(bytes, {{1, 2}, 3, 4, 5.5, payload});
  append_record(bytes, {{6, 7}, 8, 9, 0.0, {}});
  std::span<const std::byte> rest = bytes;
  const auto first = take_record(rest);
  REQUIRE(first.has_value());
  CHECK(first->key == ItemKey{1, 2});
  CHECK(first->times_sampled == 3);
  CHECK(first->insertion == 4);
  CHECK(first->priority == 5.5);
  CHECK(Bytes(first->payload.begin(), first->payload.end()) == payload);
  const auto second = take_record(rest);
  REQUIRE(second.has_value());
  CHECK(second->key == ItemKey{6, 7});
  CHECK(second->payload.empty());
  CHECK(rest.empty());
  CHECK_FALSE(take_record(rest).has_value());
}

TEST_CASE("a block is read back, and no damage to it goes unseen") {
  const Block block{BlockKind::kRecords, Bytes(50, std::byte{7})};
  const Bytes bytes = framed(block);
  auto whole = stream_of(bytes);
  const auto read = read_block(whole);
  REQUIRE(read.has_value());
  CHECK(read->kind == block.kind);
  CHECK(read->bytes == block.bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    auto in = stream_of(damaged);
    CHECK_FALSE(read_block(in).has_value());
    auto cut = stream_of(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
    CHECK_FALSE(read_block(cut).has_value());
  }
}

TEST_CASE("a wrong length costs no memory") {
  Bytes bytes = framed({BlockKind::kRecords, Bytes(8)});
  const std::uint32_t length = UINT32_MAX;
  std::memcpy(bytes.data() + 4, &length, sizeof(length));
  auto in = stream_of(bytes);
  const auto read = read_block(in);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().detail == "it is cut short");
}

TEST_CASE("a snapshot of the format before this one is refused in one sentence") {
  Bytes older = encode_magic();
  older.back() = std::byte{1};
  auto in = stream_of(older);
  const auto format = read_magic(in);
  REQUIRE_FALSE(format.has_value());
  CHECK(format.error().detail == "it has format 1, this program reads 3");
}

TEST_CASE("other files and other formats are told apart") {
  auto ours = stream_of(encode_magic());
  CHECK(read_magic(ours).has_value());
  Bytes newer = encode_magic();
  newer.back() = std::byte{9};
  auto in = stream_of(newer);
  const auto format = read_magic(in);
  REQUIRE_FALSE(format.has_value());
  CHECK(format.error().code == Errc::kVersionMismatch);
  std::istringstream text("something else");
  const auto other = read_magic(text);
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == Errc::kCorruptFrame);
}
