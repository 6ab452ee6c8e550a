#include "apps/process/supervisor.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "common/asio.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/result.h"

namespace pacml::apps {

using std::chrono::milliseconds;

milliseconds delay_after(const Backoff& backoff, int deaths) {
  PACML_CHECK(deaths >= 1, "there is no wait before the first death");
  const double delay =
      static_cast<double>(backoff.first.count()) * std::pow(backoff.factor, deaths - 1);
  const auto longest = static_cast<double>(backoff.longest.count());
  return milliseconds{static_cast<milliseconds::rep>(std::min(delay, longest))};
}

// Shared with the handlers that wait inside `io`: they hold it weakly, and find it gone after the
// supervisor.
class Supervisor::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, Observer observer)
      : io_(io), observer_(std::move(observer)), deaths_(io, SIGCHLD), patience_(io) {}

  void start(SupervisedChild child) {
    PACML_CHECK(!stopping_, "nothing is started once stopping has begun");
    PACML_CHECK(find(child.spec.name) == nullptr, "children have different names");
    auto process = ChildProcess::spawn(child.spec);
    if (!process) {
      throw UserError("cannot start " + child.spec.name + ": " + process.error().detail);
    }
    if (lives_.empty()) wait_for_deaths();
    Life& life = lives_.emplace_back(std::move(child), io_);
    begin(life, std::move(*process));
  }

  void stop(milliseconds patience, std::function<void()> done) {
    if (stopping_) return force(std::numeric_limits<int>::min());
    stopping_ = true;
    done_ = std::move(done);
    stop_patience_ = patience;
    for (Life& life : lives_) {
      if (life.phase == Phase::kWaiting) end(life);
    }
    stop_highest_stage();
  }

  void send(const std::string& name, int signal) {
    if (Life* life = find(name); life != nullptr && life->process) life->process->send(signal);
  }

  std::vector<ChildStatus> children() const {
    std::vector<ChildStatus> all;
    for (const Life& life : lives_) {
      all.push_back({life.child.spec.name, life.process ? life.process->pid() : 0, life.restarts});
    }
    return all;
  }

 private:
  enum class Phase { kRunning, kWaiting, kEnded };

  struct Life {
    Life(SupervisedChild c, asio::io_context& io) : child(std::move(c)), restart_timer(io) {}
    SupervisedChild child;
    asio::steady_timer restart_timer;
    Phase phase = Phase::kEnded;
    std::optional<ChildProcess> process;  // while running
    TimePoint born;
    ChildExit last_exit;
    int deaths_in_a_row = 0;
    std::int64_t restarts = 0;
  };

  Life* find(const std::string& name) {
    const auto found = std::ranges::find_if(
        lives_, [&](const Life& life) { return life.child.spec.name == name; });
    return found == lives_.end() ? nullptr : &*found;
  }

  void report(ChildReport report) {
    asio::post(io_, [self = weak_from_this(), report = std::move(report)] {
      if (const auto state = self.lock()) state->observer_(report);
    });
  }

  void begin(Life& life, ChildProcess process) {
    life.phase = Phase::kRunning;
    life.born = std::chrono::steady_clock::now();
    const pid_t pid = process.pid();
    life.process = std::move(process);
    report({ChildReport::Kind::kStarted, life.child.spec.name, pid, {}, {}});
  }

  void end(Life& life) {
    life.phase = Phase::kEnded;
    life.restart_timer.cancel();
    report({ChildReport::Kind::kEnded, life.child.spec.name, 0, life.last_exit, {}});
  }

  void wait_for_deaths() {
    deaths_.async_wait([self = weak_from_this()](const auto& error, int) {
      const auto state = self.lock();
      if (error || !state) return;
      state->wait_for_deaths();
      state->reap();
    });
  }

  // One SIGCHLD may stand for several deaths.
  void reap() {
    for (Life& life : lives_) {
      if (!life.process) continue;
      const auto exit = life.process->poll();
      if (!exit) continue;
      life.process.reset();
      died(life, *exit);
    }
    if (stopping_) stop_highest_stage();
  }

  void died(Life& life, const ChildExit& exit) {
    const auto& backoff = life.child.restart;
    life.last_exit = exit;
    const bool done = exit.code == 0 && life.child.may_finish;
    const bool wanted_to_end = exit.signal == 0 && (done || exit.code == 2);
    if (stopping_ || !backoff || wanted_to_end) return end(life);
    const bool was_healthy = std::chrono::steady_clock::now() - life.born >= backoff->healthy_after;
    life.deaths_in_a_row = was_healthy ? 1 : life.deaths_in_a_row + 1;
    if (backoff->most_deaths > 0 && life.deaths_in_a_row >= backoff->most_deaths) return end(life);
    schedule_restart(life, *backoff, exit);
  }

  void schedule_restart(Life& life, const Backoff& backoff, const ChildExit& exit) {
    const milliseconds delay = delay_after(backoff, life.deaths_in_a_row);
    life.phase = Phase::kWaiting;
    life.restart_timer.expires_after(delay);
    life.restart_timer.async_wait([self = weak_from_this(), &life, backoff](const auto& error) {
      // `life` lives as long as the state: children are never removed.
      const auto state = self.lock();
      if (!error && state && life.phase == Phase::kWaiting) state->restart(life, backoff);
    });
    report({ChildReport::Kind::kRestarting, life.child.spec.name, 0, exit, delay});
  }

  void restart(Life& life, const Backoff& backoff) {
    ++life.restarts;
    if (life.child.before_restart) life.child.before_restart(life.child.spec);
    auto process = ChildProcess::spawn(life.child.spec);
    if (process) return begin(life, std::move(*process));
    // Out of processes or memory, say: that passes, so it counts as one more death.
    ++life.deaths_in_a_row;
    schedule_restart(life, backoff, ChildExit{127, 0});
  }

  void stop_highest_stage() {
    std::optional<int> highest;
    for (const Life& life : lives_) {
      if (life.process) highest = std::max(highest.value_or(life.child.stage), life.child.stage);
    }
    if (!highest) return finish();
    if (asked_stage_ && *asked_stage_ == *highest) return;  // still going
    asked_stage_ = highest;
    for (Life& life : lives_) {
      if (life.process && life.child.stage == *highest) life.process->send(SIGTERM);
    }
    patience_.expires_after(stop_patience_);
    patience_.async_wait([self = weak_from_this(), stage = *highest](const auto& error) {
      if (const auto state = self.lock(); !error && state) state->force(stage);
    });
  }

  // Kills what still runs at `stage` and above. The deaths come back through reap().
  void force(int stage) {
    for (Life& life : lives_) {
      if (!life.process || life.child.stage < stage) continue;
      life.process->send(SIGKILL);
      report({ChildReport::Kind::kForced, life.child.spec.name, life.process->pid(), {}, {}});
    }
  }

  void finish() {
    deaths_.cancel();
    patience_.cancel();
    if (!done_) return;
    asio::post(io_, std::exchange(done_, nullptr));
  }

  asio::io_context& io_;
  Observer observer_;
  asio::signal_set deaths_;
  asio::steady_timer patience_;
  std::deque<Life> lives_;  // a deque: growing it moves none of them
  bool stopping_ = false;
  milliseconds stop_patience_{0};
  std::optional<int> asked_stage_;  // stopping: the stage that was sent SIGTERM last
  std::function<void()> done_;
};

Supervisor::Supervisor(boost::asio::io_context& io, Observer observer)
    : state_(std::make_shared<State>(io, std::move(observer))) {}

Supervisor::~Supervisor() = default;

void Supervisor::start(SupervisedChild child) { state_->start(std::move(child)); }

void Supervisor::stop(milliseconds patience, std::function<void()> done) {
  state_->stop(patience, std::move(done));
}

void Supervisor::send(const std::string& name, int signal) { state_->send(name, signal); }

std::vector<ChildStatus> Supervisor::children() const { return state_->children(); }

}  // namespace pacml::apps
