#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "learner/impala.h"
#include "learner/learner_loop.h"
#include "learner/sequence_updates.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"
#include "tests/support/threaded_group.h"

// How replicas come to an update together: learner/learner_loop.h.

namespace pacml::learner {
namespace {

constexpr std::int64_t kBatch = 12;

env::GraphFeaturesPtr graph() {
  auto out = std::make_shared<env::GraphFeatures>();
  out->num_nodes = 1;
  out->hash = GraphHash{5};
  return out;
}

class ListedSource final : public SampleSource {
 public:
  std::deque<ReceivedSequences> messages;
  Result<ReceivedSequences> next(std::stop_token, Deadline) override {
    if (messages.empty()) return fail(Errc::kTimeout);
    auto message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  void consumed(const ReceivedSequences&) override {}
  [[nodiscard]] std::size_t queue_depth() const override { return messages.size(); }
};

class LastSink final : public ParametersSink {
 public:
  model::Parameters last;
  void publish(model::Parameters parameters) override { last = std::move(parameters); }
};

struct Replica {
  static inline std::uint64_t lives = 0;
  explicit Replica(ReplicaGroup& group)
      : impala(config, network, group), loop(impala, updates, sink, group, ++lives) {}

  // A message of `steps` decisions.
  void add(std::uint32_t steps) {
    Sequences sequences = plain_sequences(steps, 1, GraphHash{5}, 1);
    set_globals(sequences.observations, [&](auto, auto) { return static_cast<float>(steps % 4); });
    sequences.episodes = {{1.5, 4, {0.25, std::nan("")}}};
    source.messages.push_back({{"a"}, std::move(sequences), {graph()}});
  }
  Result<void> step() { return loop.step({}, Deadline::now()); }

  ImpalaConfig config;
  model::TabularNetwork network{4, 1, 3};
  Impala impala;
  ListedSource source;
  LastSink sink;
  SequenceUpdates updates{impala, network.shape(), source, kBatch};
  LearnerLoop loop;
};

// Replicas that are stepped together, each on a thread of its own.
class ReplicaSet {
 public:
  explicit ReplicaSet(std::size_t count) { join(count); }
  Replica& operator[](std::size_t r) { return *replicas_[r]; }
  std::vector<Result<void>> step() {
    std::vector<Result<void>> out(replicas_.size());
    on_threads(replicas_.size(), [&](std::size_t r) { out[r] = replicas_[r]->step(); });
    return out;
  }
  void leave(std::size_t rank) { groups_[rank]->leave(); }

 private:
  void join(std::size_t count) {
    groups_ = ThreadedGroup::make(count);
    for (auto& group : groups_) replicas_.push_back(std::make_unique<Replica>(*group));
  }
  std::vector<std::unique_ptr<ThreadedGroup>> groups_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

void check_codes(const std::vector<Result<void>>& results, Errc code) {
  for (const auto& result : results) {
    REQUIRE_FALSE(result);
    CHECK(result.error().code == code);
  }
}

TEST_CASE("replicas make an update when together they have a batch", "[unit][learner]") {
  ReplicaSet replicas(2);
  replicas[0].add(6);
  check_codes(replicas.step(), Errc::kTimeout);
  CHECK(replicas[0].impala.version() == PolicyVersion{0});
  replicas[1].add(5);
  check_codes(replicas.step(), Errc::kTimeout);
  replicas[1].add(1);
  for (const auto& result : replicas.step()) CHECK(result);
  for (std::size_t r = 0; r < 2; ++r) {
    CHECK(replicas[r].impala.version() == PolicyVersion{1});
    CHECK(replicas[r].loop.counters().samples == 12);
    CHECK(replicas[r].sink.last == replicas[0].sink.last);
  }
}

TEST_CASE("where one replica has no experience, the others gather all of it", "[unit][learner]") {
  ReplicaSet replicas(3);
  for (int n = 0; n < 6; ++n) replicas[1].add(4);
  check_codes(replicas.step(), Errc::kTimeout);  // its share is there, and no more
  for (const auto& result : replicas.step()) CHECK(result);
  CHECK(replicas[2].loop.counters().samples == 12);
  CHECK(replicas[1].source.queue_depth() == 3);
}

TEST_CASE("the leader counts what all have received, each once", "[unit][learner]") {
  ReplicaSet replicas(2);
  for (int round = 0; round < 5; ++round) {
    replicas[0].add(2);
    replicas[1].add(11);
    static_cast<void>(replicas.step());
  }
  const auto& leaders = replicas[0].loop.counters();
  CHECK(leaders.decisions == 5 * 13);
  CHECK(leaders.episodes == 10);
  CHECK(replicas[1].loop.counters().decisions == 5 * 11);
  const LearnerStatistics all = replicas[0].loop.take_statistics();
  const EpisodeSums& sums = all.episodes;
  // How often each action was taken is known of its own decisions.
  CHECK(std::accumulate(all.actions.begin(), all.actions.end(), std::int64_t{0}) == 5 * 2);
  CHECK(sums.return_sum == Approx(15));
  CHECK(sums.metric_sum[0] == Approx(2.5));
  CHECK(sums.metric_count[0] == 10);
  CHECK(sums.metric_count[1] == 0);  // defined in none
  CHECK(leaders.samples == replicas[1].loop.counters().samples);
}

TEST_CASE("the leader's wish to stop ends the step of all others, before an update",
          "[unit][learner]") {
  ReplicaSet replicas(2);
  replicas[1].add(20);
  Result<void> follower;
  on_threads(2, [&](std::size_t rank) {
    if (rank == 0) replicas[0].loop.dismiss_others();
    if (rank == 1) follower = replicas[1].step();
  });
  REQUIRE_FALSE(follower);
  CHECK(follower.error().code == Errc::kStopped);
  CHECK(replicas[1].impala.version() == PolicyVersion{0});
}

TEST_CASE("what others have learned last is counted when the leader ends the run",
          "[unit][learner]") {
  ReplicaSet replicas(2);
  replicas[0].add(6);
  replicas[1].add(6);
  for (const auto& result : replicas.step()) REQUIRE(result);
  replicas[1].add(7);
  on_threads(2, [&](std::size_t rank) {
    if (rank == 0) replicas[0].loop.dismiss_others();
    if (rank == 1) static_cast<void>(replicas[1].step());
  });
  CHECK(replicas[0].loop.counters().decisions == 6 + 6 + 7);
}

TEST_CASE("the leader's wish for another group ends the step of all, and nothing is lost",
          "[unit][learner]") {
  ReplicaSet replicas(2);
  replicas[0].add(6);
  replicas[1].add(6);
  replicas[0].loop.ask_to_regroup();
  check_codes(replicas.step(), Errc::kDisconnected);
  replicas[0].loop.regrouped();
  replicas[1].loop.regrouped();
  for (const auto& result : replicas.step()) CHECK(result);
  CHECK(replicas[0].loop.counters().decisions == 12);
  CHECK(replicas[0].loop.counters().samples == 12);
}

TEST_CASE("replicas whose weights have come apart notice", "[unit][learner]") {
  ReplicaSet replicas(3);
  replicas[1].network.parameters()[0] += 1e-3F;
  check_codes(replicas.step(), Errc::kVersionMismatch);
}

TEST_CASE("a replica that has gone ends the group of the others, who keep what they have",
          "[unit][learner]") {
  ReplicaSet replicas(2);
  replicas[0].add(9);
  replicas.leave(1);
  const auto result = replicas[0].step();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::kDisconnected);
  CHECK(replicas[0].updates.collected() == 9);
}

// A group in the place of which another may come.
class Changing final : public ReplicaGroup {
 public:
  ReplicaGroup* now = nullptr;
  [[nodiscard]] std::size_t size() const override { return now->size(); }
  [[nodiscard]] std::size_t rank() const override { return now->rank(); }
  Result<void> gather(std::span<const double> mine, std::vector<double>& all) override {
    return now->gather(mine, all);
  }
  Result<void> sum(std::span<float> values) override { return now->sum(values); }
  Result<void> broadcast(std::string& bytes) override { return now->broadcast(bytes); }
};

TEST_CASE("a leader that is left alone counts what came while its group broke", "[unit][learner]") {
  Changing changing;
  auto two = ThreadedGroup::make(2);
  changing.now = two[0].get();
  Replica leader(changing);
  Replica follower(*two[1]);
  on_threads(2, [&](std::size_t rank) {
    Replica& mine = rank == 0 ? leader : follower;
    mine.add(rank == 0 ? 4 : 3);
    static_cast<void>(mine.step());
  });
  leader.add(2);
  two[1]->leave();
  REQUIRE_FALSE(leader.step());  // it has taken the message in
  changing.now = &alone();
  leader.loop.regrouped();
  leader.add(6);
  CHECK(leader.step());
  CHECK(leader.loop.counters().decisions == 4 + 3 + 2 + 6);
  CHECK(leader.loop.counters().episodes == 4);
  const LearnerStatistics all = leader.loop.take_statistics();
  CHECK(all.episodes.return_sum == Approx(4 * 1.5));
  CHECK(std::accumulate(all.actions.begin(), all.actions.end(), std::int64_t{0}) == 4 + 2 + 6);
}

TEST_CASE("a leader that is new does not count again what the one before it was told",
          "[unit][learner]") {
  // The follower outlives its leader: the same loop in two groups, one after the other.
  Changing changing;
  auto first = ThreadedGroup::make(2);
  changing.now = first[1].get();
  Replica follower(changing);
  std::int64_t counted = 0;
  for (int life = 0; life < 2; ++life) {
    auto group = life == 0 ? std::move(first) : ThreadedGroup::make(2);
    changing.now = group[1].get();
    Replica leader(*group[0]);
    leader.loop.restore({.decisions = counted});
    on_threads(2, [&](std::size_t rank) {
      if (rank == 1) follower.add(3);
      static_cast<void>(rank == 0 ? leader.step() : follower.step());
    });
    counted = leader.loop.counters().decisions;
  }
  CHECK(counted == 6);
}

}  // namespace
}  // namespace pacml::learner
