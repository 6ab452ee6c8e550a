#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/appended_file.h"
#include "common/result.h"

namespace pacml::apps {

// CRC-32C (Castagnoli; RFC 3720, B.4) of bytes. Pure.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

// A checksum as records carry it: rotated and shifted, since a checksum of data that has a checksum
// inside says little (TensorFlow, tsl/lib/hash/crc32c.h). Pure.
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);

// Appends records in TensorFlow's format (TFRecord): of each its length in 8 bytes, their masked
// checksum, the bytes, their masked checksum; all little-endian. Whole or not at all
// (common/appended_file.h). Thread-confined.
class RecordFile {
 public:
  // A new file. UserError: it is there already, or cannot be made.
  explicit RecordFile(std::filesystem::path path);
  // kIo: the file has its former records.
  [[nodiscard]] Result<void> append(std::string_view record);
  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendedFile file_;
};

}  // namespace pacml::apps
