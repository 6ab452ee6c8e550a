#include "apps/cli/work_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

namespace pacml::apps {
namespace {

constexpr std::chrono::seconds kPeriod{10};
constexpr std::chrono::milliseconds kRewritten{250};
constexpr std::chrono::seconds kSilence{1};  // what takes no longer needs no line on a terminal

bool stderr_is_terminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 5400) return std::to_string((whole + 30) / 60) + " min";
  return std::to_string((whole + 1800) / 3600) + " h";
}

}  // namespace

WorkProgress::WorkProgress(std::string what)
    : WorkProgress(std::move(what), std::cerr, stderr_is_terminal(), steady()) {}

WorkProgress::WorkProgress(std::string what, std::ostream& out, bool is_terminal,
                           const Clock& clock)
    : what_(std::move(what)),
      out_(&out),
      is_terminal_(is_terminal),
      clock_(&clock),
      begun_(clock.now()),
      next_(begun_ + (is_terminal ? Duration(kSilence) : Duration(kPeriod))) {}

WorkProgress::~WorkProgress() {
  if (shown_) *out_ << "\r\033[K" << std::flush;
}

void WorkProgress::tell(std::size_t done, std::size_t all) {
  const std::scoped_lock lock(mutex_);
  const TimePoint now = clock_->now();
  newest_ = std::max(newest_, done);
  ++told_;
  if (now >= next_ && newest_ > 0 && all > 0) say(now, all);
  if (told_ < all) return;
  told_ = newest_ = 0;
  begun_ = now;
}

void WorkProgress::say(TimePoint now, std::size_t all) {
  next_ = now + (is_terminal_ ? Duration(kRewritten) : Duration(kPeriod));
  const double gone = std::chrono::duration<double>(now - begun_).count();
  const auto share = static_cast<double>(newest_) / static_cast<double>(all);
  const std::string line = std::to_string(newest_) + " of " + std::to_string(all) + " " + what_ +
                           ", " + time_text(gone) + " gone, some " +
                           time_text(gone * (1 - share) / share) + " left";
  if (is_terminal_) {
    *out_ << "\r\033[K" << line << std::flush;
    shown_ = true;
  } else {
    *out_ << line << "\n" << std::flush;
  }
}

}  // namespace pacml::apps
