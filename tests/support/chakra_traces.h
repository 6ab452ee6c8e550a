#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace pacml::testing {

// Bytes of protobuf's wire format, written by hand after the published numbers of Chakra's fields:
// what is read must not depend on messages of ours.
class WireMessage {
 public:
  WireMessage& number(std::uint32_t field, std::uint64_t value) {
    bytes_ += varint(field << 3U) + varint(value);
    return *this;
  }
  WireMessage& text(std::uint32_t field, const std::string& value) {
    bytes_ += varint((field << 3U) | 2U) + varint(value.size()) + value;
    return *this;
  }
  WireMessage& real(std::uint32_t field, double value) {
    bytes_ += varint((field << 3U) | 1U);
    for (auto bits = std::bit_cast<std::uint64_t>(value), left = std::uint64_t{8}; left > 0;
         --left) {
      bytes_ += static_cast<char>(bits & 0xffU);
      bits >>= 8U;
    }
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  // With its length in front, as one of a file.
  [[nodiscard]] std::string framed() const { return varint(bytes_.size()) + bytes_; }

  static std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80U; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
    return bytes + static_cast<char>(value);
  }

 private:
  std::string bytes_;
};

inline std::string chakra_metadata() { return WireMessage().text(1, "0.0.4").framed(); }

// One node of a trace, by the schema's names.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name = {};
  std::uint64_t type = 4;  // COMP_NODE
  std::vector<std::uint64_t> ctrl_deps = {};
  std::vector<std::uint64_t> data_deps = {};
  std::uint64_t duration_micros = 0;
  std::string output_values = {};
  std::vector<std::string> attributes = {};  // attribute(), real_attribute()

  [[nodiscard]] std::string framed() const {
    WireMessage node;
    node.number(1, id).text(2, name).number(3, type);
    for (const std::uint64_t dep : ctrl_deps) node.number(4, dep);
    std::string packed;
    for (const std::uint64_t dep : data_deps) packed += WireMessage::varint(dep);
    if (!packed.empty()) node.text(5, packed);
    node.number(6, 1000).number(7, duration_micros);
    if (!output_values.empty()) node.text(9, WireMessage().text(1, output_values).bytes());
    for (const std::string& bytes : attributes) node.text(10, bytes);
    return node.framed();
  }
};

// An AttributeProto: int64_val is field 9, uint64_val 13, double_val 3, string_val 29.
inline std::string attribute(const std::string& name, std::uint64_t value,
                             std::uint32_t field = 13) {
  return WireMessage().text(1, name).number(field, value).bytes();
}
inline std::string real_attribute(const std::string& name, double value) {
  return WireMessage().text(1, name).real(3, value).bytes();
}

inline std::string chakra_trace(const std::vector<ChakraNode>& nodes) {
  std::string bytes = chakra_metadata();
  for (const ChakraNode& node : nodes) bytes += node.framed();
  return bytes;
}

}  // namespace pacml::testing
