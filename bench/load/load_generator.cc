#include "bench/load/load_generator.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <thread>
#include <utility>

#include "bench/load/ready_set.h"
#include "common/scheduling.h"
#include "common/thread_group.h"
#include "common/transport/dealer.h"
#include "common/transport/subscriber.h"

namespace pacml::bench {
namespace {

constexpr std::chrono::milliseconds kLook{10};  // of the caller's thread at the others
// A conversation is tended this often though nothing comes, and a wait is never longer.
constexpr std::chrono::milliseconds kTend{100};
// libzmq has one thread for input and output, which connecting thousands at once would keep from
// everything else: so many a round, then what came is heard.
constexpr std::size_t kConnectAtOnce = 64;

// A DEALER has a mailbox, a waker and a connection; a SUB a mailbox and a connection.
constexpr std::size_t kFilesPerDealer = 3;
constexpr std::size_t kFilesPerSubscriber = 2;
constexpr std::size_t kOtherFiles = 64;

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

enum class Phase { kConnect, kSend, kMeasure, kMeasured, kSettle };

// One actor with its sockets.
struct Peer {
  Peer(transport::Context& context, const LoadTarget& target, const wire::Hello& hello,
       std::span<const env::GraphFeaturesPtr> graphs, const CannedExperience& canned,
       const ProtocolActor::Pace& pace, Histogram& round_trips)
      : learner(context, target.learner, target.sockets),
        announcements(context, target.announcements, target.sockets) {
    if (!target.shards.empty()) {
      const auto& nearest = target.shards[hello.actor.get() % target.shards.size()];
      shard = std::make_unique<transport::Dealer>(context, nearest, target.sockets);
    }
    actor.emplace(ProtocolActor::Connections{&learner, &announcements, shard.get()}, hello, graphs,
                  canned, pace, round_trips);
  }

  transport::Dealer learner;
  transport::Subscriber announcements;
  std::unique_ptr<transport::Dealer> shard;
  std::optional<ProtocolActor> actor;
  bool joined = false;
  bool ready = false;
  bool ended = false;
  ProtocolActor::Tally at_start;  // of measuring
  ProtocolActor::Tally at_end;
};

// What all threads see of one another.
struct Shared {
  std::atomic<Phase> phase{Phase::kConnect};
  std::atomic<std::size_t> joined{0};
  std::atomic<std::size_t> ready{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<std::size_t> measuring{0};  // threads that have taken their first figures
  std::atomic<std::size_t> measured{0};   // ... and their last
  std::atomic<std::size_t> settling{0};   // threads that have told what is not yet accepted
  std::atomic<std::uint64_t> unaccepted{0};

  std::mutex mutex;  // of all below
  std::vector<ProtocolActor::Tally> before;
  std::vector<ProtocolActor::Tally> after;
  std::vector<ProtocolActor::Tally> last;
  Histogram round_trips;
  std::set<std::string> reasons;
};

// One thread's share of the actors: those whose number is `first` modulo `step`.
class Driver {
 public:
  Driver(Shared& shared, const LoadConfig& config, std::size_t first)
      : shared_(&shared), config_(config), first_(first) {}

  void run(transport::Context& context, const LoadTarget& target, const wire::Hello& hello,
           std::span<const env::GraphFeaturesPtr> graphs, const CannedExperience& canned,
           const std::stop_token& stop) {
    std::size_t next = first_;
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < kConnectAtOnce && next < config_.actors; ++i) {
        connect(context, target, hello, graphs, canned, next);
        next += config_.threads;
      }
      follow_phase();
      wait_and_advance(next < config_.actors ? Deadline::now() : Deadline::in(kTend));
    }
    hand_in();
  }

 private:
  void connect(transport::Context& context, const LoadTarget& target, wire::Hello hello,
               std::span<const env::GraphFeaturesPtr> graphs, const CannedExperience& canned,
               std::size_t number) {
    hello.actor = ActorId{static_cast<std::uint32_t>(number)};
    const std::size_t key = peers_.size();
    peers_.push_back(std::make_unique<Peer>(context, target, hello, graphs, canned,
                                            pace_of(canned, number), round_trips_));
    Peer& peer = *peers_.back();
    ready_set_.add(peer.learner.ready_fd(), key);
    if (peer.shard) ready_set_.add(peer.shard->ready_fd(), key);
    advance(key);
  }

  // Actors that began together would send together for ever.
  [[nodiscard]] ProtocolActor::Pace pace_of(const CannedExperience& canned,
                                            std::size_t number) const {
    if (config_.decisions_per_second <= 0) return {};
    const std::chrono::duration<double> per_decision(1 / config_.decisions_per_second);
    const double share = static_cast<double>(number + 1) / static_cast<double>(config_.actors);
    return {
        std::chrono::duration_cast<Duration>(per_decision * canned.decisions_per_message * share),
        std::chrono::duration_cast<Duration>(per_decision)};
  }

  void follow_phase() {
    const Phase phase = shared_->phase;
    if (phase == seen_) {
      if (phase == Phase::kSettle) report_unaccepted();
      return;
    }
    seen_ = phase;
    if (phase == Phase::kMeasure) {
      round_trips_.clear();
      for (auto& peer : peers_) peer->at_start = peer->actor->tally();
      ++shared_->measuring;
    } else if (phase == Phase::kMeasured) {
      for (auto& peer : peers_) peer->at_end = peer->actor->tally();
      const std::scoped_lock lock(shared_->mutex);
      shared_->round_trips.merge(round_trips_);
      ++shared_->measured;
    } else if (phase == Phase::kSettle) {
      for (auto& peer : peers_) peer->actor->fall_silent();
    }
  }

  void report_unaccepted() {
    std::uint64_t unaccepted = 0;
    for (const auto& peer : peers_) unaccepted += peer->actor->unaccepted();
    // Adds the change since the last report.
    shared_->unaccepted += unaccepted - reported_unaccepted_;
    reported_unaccepted_ = unaccepted;
    if (!std::exchange(settling_, true)) ++shared_->settling;
  }

  void wait_and_advance(Deadline deadline) {
    if (!due_.empty()) deadline = Deadline{std::min(deadline.at(), due_.top().first)};
    for (const std::size_t key : ready_set_.wait(deadline)) advance(key);
    const TimePoint at = steady().now();
    while (!due_.empty() && due_.top().first <= at) {
      const auto [when, key] = due_.top();
      due_.pop();
      if (when == due_at_[key]) advance(key);  // else it was advanced since, and has a later entry
    }
  }

  void advance(std::size_t key) {
    Peer& peer = *peers_[key];
    if (peer.ended) return;
    const auto again = peer.actor->advance(steady().now());
    if (!again) {
      peer.ended = true;
      ++shared_->ended;
      const std::scoped_lock lock(shared_->mutex);
      shared_->reasons.insert(again.error().detail);
      return;
    }
    due_at_.resize(peers_.size());
    // An entry that is in time already is kept: a busy actor would add one with each frame.
    if (due_at_[key] <= steady().now() || *again < due_at_[key]) {
      due_at_[key] = *again;
      due_.emplace(*again, key);
    }
    if (!peer.joined && peer.actor->joined()) {
      peer.joined = true;
      ++shared_->joined;
    }
    if (!peer.ready && peer.actor->ready()) {
      peer.ready = true;
      ++shared_->ready;
    }
  }

  void hand_in() {
    const std::scoped_lock lock(shared_->mutex);
    for (const auto& peer : peers_) {
      shared_->before.push_back(peer->at_start);
      shared_->after.push_back(peer->at_end);
      shared_->last.push_back(peer->actor->tally());
    }
  }

  using Due = std::pair<TimePoint, std::size_t>;

  Shared* shared_;
  LoadConfig config_;
  std::size_t first_;
  Phase seen_ = Phase::kConnect;
  Histogram round_trips_;
  std::vector<std::unique_ptr<Peer>> peers_;
  ReadySet ready_set_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<TimePoint> due_at_;  // of each actor, what counts of its entries in due_
  std::uint64_t reported_unaccepted_ = 0;
  bool settling_ = false;
};

// Waits until `holds`; false: the deadline passed first, or a stop was asked for.
template <class Condition>
bool wait_until(Condition holds, Deadline deadline, const std::stop_token& stop) {
  while (!holds()) {
    if (stop.stop_requested() || deadline.expired()) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

void wait_for(Duration duration, const std::stop_token& stop) {
  static_cast<void>(wait_until([] { return false; }, Deadline::in(duration), stop));
}

void sum_up(const Shared& shared, const CannedExperience& canned, LoadReport& report) {
  double sum = 0;
  double sum_of_squares = 0;
  report.fewest = shared.before.empty() ? 0 : UINT64_MAX;
  for (std::size_t i = 0; i < shared.before.size(); ++i) {
    report.accepted += shared.after[i].accepted - shared.before[i].accepted;
    const std::uint64_t decisions = shared.after[i].decisions - shared.before[i].decisions;
    report.fewest = std::min(report.fewest, decisions);
    report.most = std::max(report.most, decisions);
    sum += static_cast<double>(decisions);
    sum_of_squares += static_cast<double>(decisions) * static_cast<double>(decisions);
    report.bytes_down +=
        static_cast<double>(shared.after[i].weights_bytes - shared.before[i].weights_bytes);
    report.sent += shared.last[i].sent;
    report.lost += shared.last[i].sent - shared.last[i].accepted;
    report.rejoined += shared.last[i].joins - std::min<std::uint64_t>(1, shared.last[i].joins);
  }
  report.jain = sum_of_squares == 0
                    ? 0
                    : sum * sum / (static_cast<double>(shared.before.size()) * sum_of_squares);
  report.decisions = sum;
  report.bytes_up = sum * canned.bytes_per_decision;
  report.round_trip_p50 = static_cast<double>(shared.round_trips.quantile(0.5)) * 1e-6;
  report.round_trip_p99 = static_cast<double>(shared.round_trips.quantile(0.99)) * 1e-6;
  report.ended.assign(shared.reasons.begin(), shared.reasons.end());
}

}  // namespace

std::size_t open_files_for(std::size_t actors, bool with_shard) {
  return actors * ((with_shard ? 2 : 1) * kFilesPerDealer + kFilesPerSubscriber) + kOtherFiles;
}

int sockets_for(std::size_t actors, bool with_shard) {
  return static_cast<int>(actors * (with_shard ? 3 : 2) + kOtherFiles);
}

LoadReport run_load(transport::Context& context, const LoadTarget& target, const wire::Hello& hello,
                    std::span<const env::GraphFeaturesPtr> graphs, const CannedExperience& canned,
                    const LoadConfig& config, const std::function<void(bool)>& measuring,
                    const std::stop_token& stop) {
  Shared shared;
  LoadReport report;
  report.actors = config.actors;
  const std::size_t threads = std::min(config.threads, config.actors);
  LoadConfig shares = config;
  shares.threads = threads;
  ThreadGroup group;
  const TimePoint started = steady().now();
  for (std::size_t i = 0; i < threads; ++i) {
    group.spawn("load-" + std::to_string(i), [&, i](const std::stop_token& asked) {
      use_batch_scheduling();  // as the actors that these stand for
      Driver(shared, shares, i).run(context, target, hello, graphs, canned, asked);
    });
  }
  const std::stop_callback stop_group(stop, [&group] { group.request_stop(); });
  const std::stop_token any = group.stop_token();  // ours, or a thread that failed
  const auto all = [&](const std::atomic<std::size_t>& count, std::size_t of) {
    return count + shared.ended >= of;
  };

  const Deadline patience = Deadline::in(config.patience);
  static_cast<void>(wait_until([&] { return all(shared.joined, config.actors); }, patience, any));
  report.welcomed = shared.joined;
  report.welcomed_seconds = seconds(steady().now() - started);
  static_cast<void>(wait_until([&] { return all(shared.ready, config.actors); }, patience, any));
  report.ready_seconds = seconds(steady().now() - started);

  wait_for(config.warm_up, any);
  shared.phase = Phase::kMeasure;
  measuring(true);
  static_cast<void>(
      wait_until([&] { return shared.measuring == threads; }, Deadline::in(config.settle), any));
  const TimePoint begun = steady().now();
  wait_for(config.measure, any);
  shared.phase = Phase::kMeasured;
  static_cast<void>(
      wait_until([&] { return shared.measured == threads; }, Deadline::in(config.settle), any));
  report.measured_seconds = seconds(steady().now() - begun);
  measuring(false);

  shared.phase = Phase::kSettle;
  // After a second of silence, each asks what has been accepted.
  static_cast<void>(wait_until([&] { return shared.settling == threads && shared.unaccepted == 0; },
                               Deadline::in(config.settle), any));
  group.request_stop();
  group.join();
  sum_up(shared, canned, report);
  return report;
}

}  // namespace pacml::bench
