#include "apps/process/supervisor.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "apps/process/life_line.h"
#include "common/asio.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/exit_codes.h"
#include "common/result.h"

namespace pacml::apps {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLookEvery = kLifeSignEvery;
// A program that is loaded from a slow disk, on a busy machine, is silent before it can say
// anything.
constexpr milliseconds kFirstSign{120'000};
// How long what is left of a child on another host may outlive it, before it is killed here.
constexpr milliseconds kRemainsFor{5'000};

}  // namespace

milliseconds delay_after(const Backoff& backoff, int deaths, bool asks_for_another_try) {
  PACML_CHECK(deaths >= 1, "there is no wait before the first death");
  const milliseconds first =
      asks_for_another_try ? std::max(backoff.first, backoff.first_try_again) : backoff.first;
  const double delay = static_cast<double>(first.count()) * std::pow(backoff.factor, deaths - 1);
  const auto longest = static_cast<double>(backoff.longest.count());
  return milliseconds{static_cast<milliseconds::rep>(std::min(delay, longest))};
}

// Shared with the handlers that wait inside `io`: they hold it weakly, and find it gone after the
// supervisor.
class Supervisor::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, Observer observer)
      : io_(io), observer_(std::move(observer)), deaths_(io, SIGCHLD), patience_(io), look_(io) {}

  void start(SupervisedChild child) {
    PACML_CHECK(!stopping_, "nothing is started once stopping has begun");
    PACML_CHECK(find(child.spec.name) == nullptr, "children have different names");
    auto process = ChildProcess::spawn(child.spec);
    if (!process) {
      throw UserError("cannot start " + child.spec.name + ": " + process.error().detail);
    }
    if (lives_.empty()) {
      wait_for_deaths();
      looked_ = steady().now();
      look();
    }
    Life& life = lives_.emplace_back(std::move(child), io_);
    begin(life, std::move(*process));
  }

  void stop(milliseconds patience, std::function<void()> done) {
    if (stopping_) return force(std::numeric_limits<int>::min());
    stopping_ = true;
    done_ = std::move(done);
    stop_by_ = steady().now() + patience;
    for (Life& life : lives_) {
      if (life.phase == Phase::kWaiting) end(life);
    }
    stop_highest_stage();
  }

  void start_again(const std::string& name) {
    Life* const life = find(name);
    if (stopping_ || life == nullptr || life->phase != Phase::kEnded) return;
    PACML_CHECK(life->child.restart.has_value(), "it may be started again");
    restart_after(*life, *life->child.restart, life->child.restart->first);
  }

  bool send(const std::string& name, int signal) {
    Life* const life = find(name);
    if (life == nullptr || !life->process) return false;
    life->process->send(signal);
    return true;
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
    std::deque<TimePoint> deaths;  // within the window
    std::int64_t restarts = 0;
    bool started = false;  // the last attempt
    bool has_ever_spoken = false;
    // Of this life:
    LifeLineReader life_line;
    bool has_spoken = false;
    bool ready = false;
    milliseconds silent{0};
    bool killed = false;  // by us
    milliseconds killed_for{0};
    bool forced = false;
    std::string why;  // we killed it
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
    life.born = steady().now();
    const pid_t pid = process.pid();
    life.process = std::move(process);
    life.life_line = {};
    life.started = true;
    life.has_spoken = life.ready = life.killed = life.forced = false;
    life.silent = life.killed_for = milliseconds{0};
    life.why.clear();
    report(about(life, ChildReport::Kind::kStarted, pid));
  }

  static ChildReport about(const Life& life, ChildReport::Kind kind, pid_t pid = 0) {
    ChildReport made;
    made.kind = kind;
    made.name = life.child.spec.name;
    made.pid = pid;
    made.exit = life.last_exit;
    made.started = life.started;
    made.why = life.why;
    made.forced = life.forced;
    return made;
  }

  void end(Life& life, int too_many_deaths = 0) {
    life.phase = Phase::kEnded;
    life.restart_timer.cancel();
    ChildReport made = about(life, ChildReport::Kind::kEnded);
    made.deaths = too_many_deaths;
    report(std::move(made));
  }

  // Listens to the children's life lines.
  void look() {
    const TimePoint now = steady().now();
    // Where we did not run ourselves, nobody else's silence is measured.
    const auto passed =
        std::min(std::chrono::duration_cast<milliseconds>(now - looked_), 2 * kLookEvery);
    looked_ = now;
    for (Life& life : lives_) {
      if (life.process) listen_to(life, passed);
    }
    look_.expires_after(kLookEvery);
    look_.async_wait([self = weak_from_this()](const auto& error) {
      const auto state = self.lock();
      if (!error && state && !state->finished_) state->look();
    });
  }

  LifeSigns hear(Life& life) {
    LifeSigns signs = life.life_line.take(life.process->hear());
    life.has_spoken = life.has_spoken || signs.lives;
    life.has_ever_spoken = life.has_ever_spoken || signs.lives;
    if (signs.ready && !life.ready) {
      life.ready = true;
      report(about(life, ChildReport::Kind::kReady, life.process->pid()));
    }
    return signs;
  }

  void listen_to(Life& life, milliseconds passed) {
    const LifeSigns signs = hear(life);
    if (life.killed) {
      life.killed_for += passed;
      if (life.killed_for >= kRemainsFor) life.process->send(SIGKILL);
      return;
    }
    life.silent = signs.lives ? milliseconds{0} : life.silent + passed;
    if (stopping_ || life.child.silence == milliseconds{0}) return;
    const milliseconds limit =
        life.has_spoken ? life.child.silence : std::max(life.child.silence, kFirstSign);
    if (!signs.hangs.empty()) return give_up_on(life, signs.hangs);
    if (life.silent < limit) return;
    give_up_on(life, "no sign of life for " + std::to_string(life.silent.count() / 1000) + " s");
  }

  void give_up_on(Life& life, const std::string& why) {
    life.why = why;
    kill(life);
    report(about(life, ChildReport::Kind::kSilent, life.process->pid()));
  }

  static void kill(Life& life) {
    life.killed = true;
    life.process->kill();
  }

  void wait_for_deaths() {
    deaths_.async_wait([self = weak_from_this()](const auto& error, int) {
      const auto state = self.lock();
      // A handler that was queued when the wait was cancelled knows of no error.
      if (error || !state || state->finished_) return;
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
      static_cast<void>(hear(life));  // its last words
      life.process.reset();
      died(life, *exit);
    }
    if (stopping_) stop_highest_stage();
  }

  void died(Life& life, const ChildExit& exit) {
    const auto& backoff = life.child.restart;
    life.last_exit = exit;
    const bool done = exit.code == 0 && life.child.may_finish;
    const bool wanted_to_end = exit.signal == 0 && (done || exit.code == kExitUserMustMend);
    if (stopping_ || !backoff || (wanted_to_end && !life.killed)) return end(life);
    const bool could_speak = life.child.spec.life_line != LifeLineKind::kNone;
    const bool was_healthy =
        steady().now() - life.born >= backoff->healthy_after && (life.has_spoken || !could_speak);
    if (was_healthy) life.deaths_in_a_row = 0;
    count_death(life, *backoff);
  }

  static bool is_out_of_reach(const Life& life) {
    return life.started && !life.has_spoken && life.last_exit.signal == 0 &&
           life.child.out_of_reach == life.last_exit.code;
  }

  // Starts it again after a while, unless it has died too often.
  void count_death(Life& life, const Backoff& backoff) {
    const TimePoint now = steady().now();
    const bool out_of_reach = is_out_of_reach(life);
    ++life.deaths_in_a_row;
    if (!out_of_reach) {
      life.deaths.push_back(now);
      while (life.deaths.front() + backoff.window < now) life.deaths.pop_front();
      const auto deaths = static_cast<int>(life.deaths.size());
      if (backoff.most_deaths > 0 && deaths >= backoff.most_deaths) return end(life, deaths);
    }

    const milliseconds delay =
        delay_after(backoff, life.deaths_in_a_row, life.last_exit.code == kExitTryAgain);
    restart_after(life, backoff, delay);
    ChildReport made = about(life, ChildReport::Kind::kRestarting);
    made.delay = delay;
    made.out_of_reach = out_of_reach;
    report(std::move(made));
  }

  void restart_after(Life& life, const Backoff& backoff, milliseconds delay) {
    life.phase = Phase::kWaiting;
    life.restart_timer.expires_after(delay);
    life.restart_timer.async_wait([self = weak_from_this(), &life, backoff](const auto& error) {
      // `life` lives as long as the state: children are never removed.
      const auto state = self.lock();
      if (!error && state && life.phase == Phase::kWaiting) state->restart(life, backoff);
    });
  }

  void restart(Life& life, const Backoff& backoff) {
    ++life.restarts;
    const auto failed = [&](const std::string& why) {
      life.started = false;
      life.why = why;
      life.last_exit = ChildExit{kExitTryAgain, 0};
      count_death(life, backoff);
    };
    try {
      if (life.child.before_restart) {
        life.child.before_restart(life.child.spec, life.has_ever_spoken);
      }
    } catch (const std::exception& error) {
      return failed(error.what());
    }
    auto process = ChildProcess::spawn(life.child.spec);
    if (process) return begin(life, std::move(*process));
    // Out of processes or memory, say: that may pass.
    failed(process.error().detail);
  }

  void stop_highest_stage() {
    std::set<int> stages;
    for (const Life& life : lives_) {
      if (life.process) stages.insert(life.child.stage);
    }
    if (stages.empty()) return finish();
    const int highest = *stages.rbegin();
    if (asked_stage_ && *asked_stage_ == highest) return;  // still going
    asked_stage_ = highest;
    for (Life& life : lives_) {
      if (life.process && life.child.stage == highest) life.process->send(SIGTERM);
    }
    const auto left = stop_by_ - steady().now();
    patience_.expires_after(std::max(Duration{0}, left / static_cast<int>(stages.size())));
    patience_.async_wait([self = weak_from_this(), stage = highest](const auto& error) {
      if (const auto state = self.lock(); !error && state) state->force(stage);
    });
  }

  // Kills what still runs at `stage` and above. The deaths come back through reap().
  void force(int stage) {
    for (Life& life : lives_) {
      if (!life.process || life.child.stage < stage || life.forced) continue;
      life.forced = true;
      kill(life);
      report(about(life, ChildReport::Kind::kForced, life.process->pid()));
    }
  }

  void finish() {
    finished_ = true;
    deaths_.cancel();
    patience_.cancel();
    look_.cancel();
    if (!done_) return;
    asio::post(io_, std::exchange(done_, nullptr));
  }

  asio::io_context& io_;
  Observer observer_;
  asio::signal_set deaths_;
  asio::steady_timer patience_;
  asio::steady_timer look_;
  TimePoint looked_;
  std::deque<Life> lives_;  // a deque: growing it moves none of them
  bool stopping_ = false;
  bool finished_ = false;
  TimePoint stop_by_;
  std::optional<int> asked_stage_;  // stopping: the stage that was sent SIGTERM last
  std::function<void()> done_;
};

Supervisor::Supervisor(boost::asio::io_context& io, Observer observer)
    : state_(std::make_shared<State>(io, std::move(observer))) {}

Supervisor::~Supervisor() = default;

void Supervisor::start(SupervisedChild child) { state_->start(std::move(child)); }

void Supervisor::start_again(const std::string& name) { state_->start_again(name); }

void Supervisor::stop(milliseconds patience, std::function<void()> done) {
  state_->stop(patience, std::move(done));
}

bool Supervisor::send(const std::string& name, int signal) { return state_->send(name, signal); }

std::vector<ChildStatus> Supervisor::children() const { return state_->children(); }

}  // namespace pacml::apps
