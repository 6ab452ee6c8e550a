#include "learner/export/safetensors.h"

#include <cstring>
#include <limits>
#include <string>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

Safetensors example() {
  Safetensors file;
  file.tensors = {{"b", {2, 3}, {1, 2, 3, 4, 5, -0.0F}},
                  {"a", {}, {std::numeric_limits<float>::infinity()}},
                  {"empty", {0, 4}, {}},
                  {"c.weight", {1}, {0.5F}}};
  file.metadata = {{"config", "x: 1\n\"quoted\" \xc3\xa9"}, {"empty", ""}};
  return file;
}

// A file with this header and `data` bytes of values.
std::string with_header(const std::string& header, std::size_t data) {
  std::string out(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(out.data(), &length, 8);
  return out + header + std::string(data, '\0');
}

TEST_CASE("a safetensors file reads back as it was written", "[unit][learner]") {
  REQUIRE(decode_safetensors(encode_safetensors(example())) == example());
  REQUIRE(decode_safetensors(encode_safetensors({})) == Safetensors{});
}

TEST_CASE("values start at a multiple of eight, behind a JSON header", "[unit][learner]") {
  const std::string bytes = encode_safetensors(example());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  REQUIRE(length % 8 == 0);
  REQUIRE(bytes.size() == 8 + length + 8 * sizeof(float));
  float first = 0;
  std::memcpy(&first, bytes.data() + 8 + length, sizeof(float));
  REQUIRE(first == 1);
  const std::string header = bytes.substr(8, length);
  REQUIRE(header.find(R"("b":{"data_offsets":[0,24],"dtype":"F32","shape":[2,3]})") !=
          std::string::npos);
}

TEST_CASE("a file cut short anywhere is refused", "[unit][learner]") {
  const std::string bytes = encode_safetensors(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("first " << size << " bytes");
    const auto result = decode_safetensors(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(result);
    REQUIRE(result.error().code == Errc::kCorruptFrame);
  }
  REQUIRE_FALSE(decode_safetensors(bytes + "x"));
}

TEST_CASE("headers that lie are refused", "[unit][learner]") {
  const std::string header = GENERATE(
      as<std::string>{},  // each describes one thing wrongly; there are 8 bytes of values
      R"([])", R"(7)", R"({"a":7})", R"({"a":{"shape":[2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
      R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":["0","8"]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      R"({"__metadata__":{"a":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({"__metadata__":[],"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "{", "\xff");
  INFO(header);
  REQUIRE_FALSE(decode_safetensors(with_header(header, 8)));
}

TEST_CASE("a header that nests without end is refused where it stands", "[unit][learner]") {
  const std::size_t depth = 300'000;  // a stack holds no call for each
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  const std::string header = GENERATE_COPY(
      as<std::string>{}, deep, R"({"a":)" + deep + "}", R"({"a":{"dtype":)" + deep + "}}",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + deep + "}}",
      R"({"a":{"dtype":"F32","data_offsets":[0,8],"shape":)" + deep + "}}",
      R"({"__metadata__":{"a":)" + deep + "}}");
  INFO(header.substr(0, 60));
  const auto result = decode_safetensors(with_header(header, 8));
  REQUIRE_FALSE(result);
  REQUIRE(result.error().code == Errc::kCorruptFrame);
}

TEST_CASE("a header longer than the file is refused without being believed", "[unit][learner]") {
  REQUIRE_FALSE(decode_safetensors(std::string(8, '\xff')));
  REQUIRE_FALSE(decode_safetensors(std::string(8, '\xff') + "{}"));
}

}  // namespace
}  // namespace pacml::learner
