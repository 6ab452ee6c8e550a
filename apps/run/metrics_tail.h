#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pacml::apps {

// Follows a file of JSON lines that another process writes. Thread-confined.
class MetricsTail {
 public:
  // Lines that are there already are skipped.
  explicit MetricsTail(std::filesystem::path path);
  // The newest whole line since the last call, if any.
  [[nodiscard]] std::optional<std::string> newest();

 private:
  std::filesystem::path path_;
  std::uintmax_t offset_ = 0;
};

}  // namespace pacml::apps
