#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "apps/run/followed_file.h"

namespace pacml::apps {

// Follows a file of JSON lines that another process writes. Thread-confined.
class MetricsTail {
 public:
  // Lines that are there already are skipped.
  explicit MetricsTail(std::filesystem::path path);
  // The newest whole line since the last call, if any.
  [[nodiscard]] std::optional<std::string> newest();

 private:
  FollowedFile file_;
};

}  // namespace pacml::apps
