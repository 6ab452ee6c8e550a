#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace pacml {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

// Longer than anybody waits, and short enough to be added to any time that a clock shows.
inline constexpr Duration kForever = std::chrono::hours{24} * 365 * 100;

// So many seconds; at most kForever, of either sign, and none where it is not a number.
[[nodiscard]] constexpr Duration in_seconds(double seconds) {
  constexpr double kMost = std::chrono::duration<double>(kForever).count();
  if (seconds >= kMost) return kForever;
  if (seconds <= -kMost) return -kForever;
  if (seconds != seconds) return Duration::zero();
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// Where a module gets the time from, so that a test can set it: what is due, who has been silent
// for too long. Waits for other threads and for the network are no such decisions: a Deadline is
// always of the machine's time.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

// The machine's monotonic clock. Immutable.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
};
// For everybody to whom nobody gives another one.
[[nodiscard]] inline const Clock& steady() {
  static const SteadyClock clock;
  return clock;
}

// Stands still until told; its time is long after the beginning of all times. Thread-safe.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    return TimePoint{Duration{ticks_.load(std::memory_order_acquire)}};
  }
  void advance(Duration by) { ticks_.fetch_add(by.count(), std::memory_order_acq_rel); }

 private:
  std::atomic<Duration::rep> ticks_{Duration{std::chrono::hours{24}}.count()};
};

// Until when a wait may last, on the steady clock. Passed on unchanged through nested waits, which
// a time-out cannot be. Immutable value type.
class Deadline {
 public:
  explicit Deadline(TimePoint at) : at_(at) {}
  [[nodiscard]] static Deadline in(Duration patience) {
    return Deadline{std::chrono::steady_clock::now() + std::min(patience, kForever)};
  }
  // Already expired: take what is there, do not wait.
  [[nodiscard]] static Deadline now() { return Deadline{TimePoint::min()}; }
  [[nodiscard]] static Deadline never() { return Deadline{TimePoint::max()}; }

  [[nodiscard]] TimePoint at() const { return at_; }
  [[nodiscard]] bool is_never() const { return at_ == TimePoint::max(); }
  [[nodiscard]] bool expired(TimePoint now = std::chrono::steady_clock::now()) const {
    return at_ <= now;
  }
  // Rounded up, never negative, at most an hour: callers that poll loop anyway.
  [[nodiscard]] std::chrono::milliseconds remaining(
      TimePoint now = std::chrono::steady_clock::now()) const {
    using std::chrono::milliseconds;
    constexpr TimePoint::duration kLongest = std::chrono::hours{1};
    if (at_ <= now) return milliseconds{0};
    if (at_ >= TimePoint::max() - kLongest || at_ - now > kLongest) return std::chrono::hours{1};
    return std::chrono::ceil<milliseconds>(at_ - now);
  }
  friend auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  TimePoint at_;
};

}  // namespace pacml
