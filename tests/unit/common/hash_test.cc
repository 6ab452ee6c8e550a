#include "common/hash.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("the content hash never changes between versions", "[hash]") {
  // Checkpoints and peers of other builds compare these.
  REQUIRE(content_hash("") == 0xe220a8397b1dcdafULL);
  REQUIRE(content_hash("a") == 0x5e025f9ade9eaf3eULL);
}

TEST_CASE("every bit of the input and its length enter the hash", "[hash]") {
  const std::string base(19, 'x');
  std::set<std::uint64_t> hashes = {content_hash(base)};
  for (std::size_t i = 0; i < base.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = base;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      hashes.insert(content_hash(changed));
    }
  }
  for (std::size_t n = 0; n < base.size(); ++n) hashes.insert(content_hash(base.substr(0, n)));
  REQUIRE(hashes.size() == 1 + 19 * 8 + 19);
}

TEST_CASE("trailing zeros are not padding", "[hash]") {
  REQUIRE(content_hash(std::string(3, '\0')) != content_hash(std::string(4, '\0')));
}

TEST_CASE("chained parts cannot slide into one another", "[hash]") {
  REQUIRE(content_hash("bc", content_hash("a")) != content_hash("c", content_hash("ab")));
}

TEST_CASE("numbers are hashed by their bits", "[hash]") {
  const std::array<float, 2> plus = {0.0F, 1.0F};
  const std::array<float, 2> minus = {-0.0F, 1.0F};
  REQUIRE(content_hash(std::span<const float>(plus)) !=
          content_hash(std::span<const float>(minus)));
  REQUIRE(content_hash(std::span<const float>(plus)) ==
          content_hash(std::as_bytes(std::span(plus))));
}

}  // namespace
}  // namespace pacml
