#include "common/fault_counter.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace pacml {
namespace {

constexpr std::chrono::minutes kBetweenLines{1};

}  // namespace

FaultCounter::FaultCounter(std::string what, const Clock& clock)
    : what_(std::move(what)), clock_(&clock), last_success_(clock.now()) {}

bool FaultCounter::failed(const std::string& why) {
  const TimePoint now = clock_->now();
  std::uint64_t failures = 0;
  {
    const std::scoped_lock lock(mutex_);
    const bool is_first = !std::exchange(status_.failing, true);
    failures = ++status_.failures;
    status_.last = why;
    if (!is_first && now < next_line_) return false;
    next_line_ = now + kBetweenLines;
  }
  spdlog::error("{}: {} (failures so far: {})", what_, why, failures);
  return true;
}

bool FaultCounter::succeeded() {
  {
    const std::scoped_lock lock(mutex_);
    last_success_ = clock_->now();
    if (!std::exchange(status_.failing, false)) return false;
  }
  spdlog::info("{}: that is over", what_);
  return true;
}

FaultCounter::Status FaultCounter::status() const {
  const std::scoped_lock lock(mutex_);
  Status out = status_;
  out.age_seconds = std::chrono::duration<double>(clock_->now() - last_success_).count();
  return out;
}

}  // namespace pacml
