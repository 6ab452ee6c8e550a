#include "common/transport/zap.h"

#include <string>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::transport {
namespace {

using Parts = std::vector<std::string>;

struct Asked {
  std::string key = generate_curve_keys().public_key;
  AllowList allowed = AllowList::parse(key + " anna\n", "list");

  [[nodiscard]] static std::string bytes_of(const std::string& text) {
    const auto bytes = *decode_curve_key(text);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] Parts request() const {
    return {"1.0", "id-1", kZapDomain, "10.0.0.5", "", "CURVE", bytes_of(key)};
  }
};

TEST_CASE("a key of the list is allowed, under its holder's name", "[transport][security]") {
  const Asked asked;
  const auto answer = answer_zap(asked.request(), asked.allowed);
  CHECK(answer.allowed);
  CHECK(answer.parts == Parts{"1.0", "id-1", "200", "OK", asked.key + "anna", ""});
}

TEST_CASE("another key is denied, and known for the log", "[transport][security]") {
  const Asked asked;
  const std::string stranger = generate_curve_keys().public_key;
  auto request = asked.request();
  request.back() = Asked::bytes_of(stranger);
  const auto answer = answer_zap(request, asked.allowed);
  CHECK_FALSE(answer.allowed);
  CHECK(answer.parts.at(2) == "400");
  CHECK(answer.parts.at(4).empty());
  CHECK(answer.address == "10.0.0.5");
  CHECK(encode_curve_key(answer.key.value()) == stranger);
  CHECK_FALSE(answer_zap(asked.request(), AllowList{}).allowed);
}

TEST_CASE("whatever is no question about a CURVE key in our domain is denied",
          "[transport][security]") {
  const Asked asked;
  const auto with = [&](std::size_t part, const std::string& value) {
    auto request = asked.request();
    request.at(part) = value;
    return answer_zap(request, asked.allowed);
  };
  CHECK(with(0, "2.0").parts.at(2) == "500");
  CHECK(with(2, "global").parts.at(2) == "400");
  CHECK(with(5, "NULL").parts.at(2) == "400");
  CHECK(with(5, "PLAIN").parts.at(2) == "400");
  CHECK(with(6, "").parts.at(2) == "400");
  CHECK(with(6, Asked::bytes_of(asked.key) + "x").parts.at(2) == "400");
  auto longer = asked.request();
  longer.emplace_back("more");
  CHECK(answer_zap(longer, asked.allowed).parts.at(2) == "400");
  for (std::size_t parts = 0; parts < 7; ++parts) {
    auto cut = asked.request();
    cut.resize(parts);
    const auto answer = answer_zap(cut, asked.allowed);
    CHECK_FALSE(answer.allowed);
    CHECK(answer.parts.at(2) == "500");
    CHECK(answer.parts.at(1) == (parts > 1 ? "id-1" : ""));
  }
}

TEST_CASE("noise is denied", "[transport][security]") {
  const Asked asked;
  Rng rng(Seed{1});
  for (int i = 0; i < 2'000; ++i) {
    auto request = asked.request();
    char& letter = request.at(6).at(rng.below(32));
    letter = static_cast<char>(letter ^ (1U << rng.below(8)));
    for (auto left = rng.below(3); left > 0; --left) {
      request.at(rng.below(7)) = std::string(rng.below(40), static_cast<char>(rng.below(256)));
    }
    CHECK_FALSE(answer_zap(request, asked.allowed).allowed);
  }
}

}  // namespace
}  // namespace pacml::transport
