#include "apps/run/metrics_tail.h"

#include <fstream>
#include <system_error>
#include <utility>

#include "common/plain_file.h"

namespace pacml::apps {

MetricsTail::MetricsTail(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path_, absent);
  if (!absent) offset_ = size;
}

std::optional<std::string> MetricsTail::newest() {
  // Another file of the same name: all of it is new.
  std::error_code absent;
  if (const auto size = std::filesystem::file_size(path_, absent); !absent && size < offset_) {
    offset_ = 0;
  }
  std::ifstream file = open_plain_file(path_);
  if (!file.is_open() || !file.seekg(static_cast<std::streamoff>(offset_))) return std::nullopt;
  std::optional<std::string> last;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) break;  // not ended yet: another time
    offset_ += line.size() + 1;
    last = std::move(line);
  }
  return last;
}

}  // namespace pacml::apps
