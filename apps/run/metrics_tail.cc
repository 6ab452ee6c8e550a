#include "apps/run/metrics_tail.h"

#include <cstddef>
#include <utility>

namespace pacml::apps {
namespace {

// Longer than any line of metrics.
constexpr std::size_t kAtOnce = std::size_t{4} << 20;

}  // namespace

MetricsTail::MetricsTail(std::filesystem::path path)
    : file_(std::move(path), FollowedFile::From::kEnd) {}

std::optional<std::string> MetricsTail::newest() {
  std::optional<std::string> last;
  while (const auto piece = file_.read(kAtOnce)) {
    const std::string& bytes = piece->bytes;
    const std::size_t end = bytes.rfind('\n');
    if (end != std::string::npos) {
      const std::size_t before = end == 0 ? std::string::npos : bytes.rfind('\n', end - 1);
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      last = bytes.substr(begin, end - begin);
      file_.advance(end + 1);
    } else if (bytes.size() == kAtOnce) {
      file_.advance(bytes.size());  // no line of metrics
    } else {
      break;  // what has not ended yet, or cannot be read, is another time's
    }
    if (piece->is_end) break;
  }
  return last;
}

}  // namespace pacml::apps
