#include "common/heartbeat.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <utility>

#include "common/check.h"
#include "common/scope_exit.h"

namespace pacml {
namespace {

struct Pulse {
  std::string thread;
  std::atomic<Duration::rep> last{0};  // since the clock's beginning
  std::atomic<int> rests{0};
};

// Of this process. Never destroyed: threads may outlive main's statics.
struct Ward {
  std::mutex mutex;
  std::list<Pulse> pulses;  // a list: none moves
};
Ward& ward() {
  static auto* const all = new Ward;
  return *all;
}

thread_local Pulse* mine = nullptr;
thread_local const Chore* chore = nullptr;

Duration::rep ticks(TimePoint at) { return at.time_since_epoch().count(); }

}  // namespace

Heartbeat::Heartbeat(std::string thread) {
  PACML_CHECK(mine == nullptr, "a thread has one heartbeat");
  const std::scoped_lock lock(ward().mutex);
  Pulse& pulse = ward().pulses.emplace_back();
  pulse.thread = std::move(thread);
  pulse.last = ticks(steady().now());
  mine = &pulse;
}

Heartbeat::~Heartbeat() {
  const std::scoped_lock lock(ward().mutex);
  ward().pulses.remove_if([](const Pulse& pulse) { return &pulse == mine; });
  mine = nullptr;
}

void beat() {
  if (mine == nullptr && chore == nullptr) return;
  const TimePoint now = steady().now();
  if (mine != nullptr) mine->last.store(ticks(now), std::memory_order_relaxed);
  if (chore != nullptr) chore->do_if_due(now);
}

Chore::Chore(Duration every, std::function<void()> what)
    : every_(every), chore_(std::move(what)), due_(steady().now() + every) {
  PACML_CHECK(chore == nullptr, "a thread has one chore at a time");
  chore = this;
}

Chore::~Chore() { chore = nullptr; }

void Chore::do_if_due(TimePoint now) const {
  if (busy_ || now < due_) return;
  busy_ = true;
  const ScopeExit at_end([this] { busy_ = false; });
  due_ = now + every_;
  chore_();
}

Rest::Rest() {
  if (mine != nullptr) ++mine->rests;
}

Rest::~Rest() {
  if (mine == nullptr) return;
  beat();
  --mine->rests;
}

std::optional<Silence> longest_silence(TimePoint now) {
  std::optional<Silence> longest;
  const std::scoped_lock lock(ward().mutex);
  for (const Pulse& pulse : ward().pulses) {
    if (pulse.rests > 0) continue;
    const Duration lasted{std::max<Duration::rep>(0, ticks(now) - pulse.last)};
    if (!longest || lasted > longest->lasted) longest = Silence{pulse.thread, lasted};
  }
  return longest;
}

std::string hung_thread(TimePoint now, Duration limit) {
  if (limit <= Duration{0}) return {};
  const auto silence = longest_silence(now);
  if (!silence || silence->lasted < limit) return {};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silence->lasted).count();
  return "thread " + silence->thread + " has been silent for " + std::to_string(seconds) + " s";
}

}  // namespace pacml
