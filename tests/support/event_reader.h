#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A reader of TensorBoard's event files: written from the formats' descriptions (TFRecord, protocol
// buffers' encoding, event.proto, summary.proto), and of nothing that writes them.

namespace pacml::testing {

// Bit by bit, as RFC 3720 defines it.
inline std::uint32_t plain_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

template <class Number>
Number little_endian(std::string_view bytes) {
  Number value{};
  std::memcpy(&value, bytes.data(), sizeof value);  // tests run where the program does
  return value;
}

// The whole records of a file; whatever follows them is in `rest`. nullopt: a checksum is wrong.
inline std::optional<std::vector<std::string>> read_records(std::string_view file,
                                                            std::string& rest) {
  const auto is_of = [](std::uint32_t masked, std::string_view bytes) {
    const std::uint32_t turned = masked - 0xA282EAD8U;
    return (turned >> 17 | turned << 15) == plain_crc32c(bytes);
  };
  std::vector<std::string> records;
  while (file.size() >= 12) {
    if (!is_of(little_endian<std::uint32_t>(file.substr(8)), file.substr(0, 8))) {
      return std::nullopt;
    }
    const auto length = little_endian<std::uint64_t>(file);
    if (file.size() < 16 + length) break;
    const std::string_view record = file.substr(12, length);
    if (!is_of(little_endian<std::uint32_t>(file.substr(12 + length)), record)) return std::nullopt;
    records.emplace_back(record);
    file.remove_prefix(16 + length);
  }
  rest = file;
  return records;
}

// One message of protocol buffers: its fields by number, each value as it came: bytes of fixed
// width, of a varint its value in eight bytes, or what a length precedes.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto key = varint(bytes);
      const auto number = static_cast<int>(key >> 3);
      std::uint64_t length = 0;
      switch (key & 7) {
        case 0: {
          const std::uint64_t value = varint(bytes);
          fields_.emplace(number, std::string(reinterpret_cast<const char*>(&value), 8));
          continue;
        }
        case 1:
          length = 8;
          break;
        case 2:
          length = varint(bytes);
          break;
        case 5:
          length = 4;
          break;
        default:
          valid_ = false;
          return;
      }
      if (length > bytes.size()) {
        valid_ = false;
        return;
      }
      fields_.emplace(number, std::string(bytes.substr(0, length)));
      bytes.remove_prefix(length);
    }
  }
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] bool has(int number) const { return fields_.contains(number); }
  // In the order in which they came.
  [[nodiscard]] std::vector<std::string> all(int number) const {
    std::vector<std::string> values;
    const auto [begin, end] = fields_.equal_range(number);
    for (auto it = begin; it != end; ++it) values.push_back(it->second);
    return values;
  }
  [[nodiscard]] std::string text(int number) const {
    const auto it = fields_.find(number);
    return it == fields_.end() ? std::string() : it->second;
  }
  [[nodiscard]] WireMessage message(int number) const { return WireMessage(text(number)); }
  // 0 where it is absent, as proto3 has it.
  template <class Number>
  [[nodiscard]] Number number(int field) const {
    return has(field) ? little_endian<Number>(text(field)) : Number{};
  }
  [[nodiscard]] std::vector<double> doubles(int number) const {
    const std::string packed = text(number);
    std::vector<double> values(packed.size() / sizeof(double));
    std::memcpy(values.data(), packed.data(), values.size() * sizeof(double));
    return values;
  }

 private:
  std::uint64_t varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    valid_ = false;
    return 0;
  }

  std::multimap<int, std::string> fields_;
  bool valid_ = true;
};

// What a file tells, as people look for it.
struct EventFile {
  std::vector<WireMessage> events;
  std::map<std::string, std::vector<std::pair<std::int64_t, float>>> scalars;  // step, value
  std::map<std::string, std::vector<std::pair<std::int64_t, WireMessage>>> histograms;
  std::map<std::string, WireMessage> hparams;  // plugin data by tag
  std::vector<std::int64_t> session_starts;    // their steps
  std::string rest;                            // behind the last whole record
};

// nullopt: a checksum is wrong, or a record is no event.
inline std::optional<EventFile> read_events(std::string_view bytes) {
  EventFile file;
  const auto records = read_records(bytes, file.rest);
  if (!records) return std::nullopt;
  for (const std::string& record : *records) {
    const WireMessage event(record);
    if (!event.valid()) return std::nullopt;
    const auto step = event.number<std::int64_t>(2);
    if (event.has(7) && event.message(7).number<std::uint64_t>(1) == 1) {
      file.session_starts.push_back(step);
    }
    for (const std::string& text : event.message(5).all(1)) {
      const WireMessage value(text);
      const std::string tag = value.text(1);
      if (value.has(2)) file.scalars[tag].emplace_back(step, value.number<float>(2));
      if (value.has(5)) file.histograms[tag].emplace_back(step, value.message(5));
      const WireMessage plugin = value.message(9).message(1);
      if (plugin.text(1) == "hparams") file.hparams.emplace(tag, WireMessage(plugin.text(2)));
    }
    file.events.push_back(event);
  }
  return file;
}

}  // namespace pacml::testing
