#include "learner/learner_loop.h"

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "learner/sequence_updates.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/tabular_network.h"

namespace pacml::learner {
namespace {

env::GraphFeaturesPtr graph_of_width(int width, std::uint64_t hash) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = 1;
  graph->node_width = width;
  graph->node_features.assign(static_cast<std::size_t>(width), 1.0F);
  graph->hash = GraphHash{hash};
  return graph;
}

// Counts what it is given; a decision taken with version 0 of the weights is stale to it.
class CountingAlgorithm final : public SequenceAlgorithm {
 public:
  std::vector<std::size_t> batches;  // decisions of each
  std::int64_t learned = 0;
  std::int64_t updates = 0;
  bool applies = true;
  bool diverges = false;       // each update's gradient
  std::vector<float> weights;  // of the snapshot

  Result<UpdateReport> update(const TrainBatch& batch) override {
    batches.push_back(batch.decisions());
    UpdateReport report;
    for (const PolicyVersion version : batch.policy_versions) {
      ++(version.get() == 0 ? report.stale : report.decisions);
    }
    learned += report.decisions;
    if (report.decisions > 0 && applies) {
      report.outcome = diverges ? Outcome::kDiverged : Outcome::kApplied;
    }
    report.loss = 3;
    report.scalars = {{"entropy", 0.5}};
    if (report.outcome == Outcome::kApplied) ++updates;
    return report;
  }
  void set_graphs(std::span<const env::GraphFeaturesPtr>) override {}
  void set_share_done(double /*share*/) override {}
  PolicyVersion version() const override {
    return PolicyVersion{static_cast<std::uint64_t>(updates)};
  }
  model::Parameters snapshot() const override { return {version(), 0, weights}; }
  AlgorithmState save() const override { return {}; }
  Result<void> restore(const AlgorithmState&) override { return {}; }
};

// Hands out what a test has put in; says when it has none.
class ListedSource final : public SampleSource {
 public:
  std::deque<ReceivedSequences> messages;
  std::map<std::string, int> consumed_of;
  Errc when_empty = Errc::kTimeout;

  Result<ReceivedSequences> next(std::stop_token, Deadline) override {
    if (messages.empty()) return fail(when_empty);
    auto message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  void consumed(const ReceivedSequences& received) override { ++consumed_of[received.peer.bytes]; }
  [[nodiscard]] std::size_t queue_depth() const override { return messages.size(); }
};

class KeepingSink final : public ParametersSink {
 public:
  std::vector<std::uint64_t> versions;
  void publish(model::Parameters parameters) override {
    versions.push_back(parameters.version.get());
  }
};

constexpr std::int64_t kBatch = 10;
constexpr std::uint32_t kGlobals = 2;

struct Bench {
  model::TabularNetwork network{5, kGlobals, 3};
  CountingAlgorithm algorithm;
  ListedSource source;
  KeepingSink sink;
  SequenceUpdates sequence_updates{algorithm, network.shape(), source, kBatch};
  LearnerLoop loop{algorithm, sequence_updates, sink};
  std::int64_t sent = 0;

  // `steps` x 2 decisions, taken with weights of `version`.
  void add(std::uint32_t steps, std::uint64_t version, const std::string& peer = "a",
           env::GraphFeaturesPtr graph = graph_of_width(0, 1), std::uint32_t globals = kGlobals) {
    Sequences sequences = plain_sequences(steps, 2, graph->hash, globals);
    set_version(sequences, version);
    sent += static_cast<std::int64_t>(sequences.num_decisions());
    source.messages.push_back({{peer}, std::move(sequences), {std::move(graph)}});
  }
  Result<void> step() { return loop.step({}, Deadline::now()); }
};

TEST_CASE("an update waits for a batch, and takes every message that has come", "[unit][learner]") {
  Bench bench;
  bench.add(2, 1);
  bench.add(2, 1);
  CHECK(bench.step().error().code == Errc::kTimeout);
  CHECK(bench.algorithm.batches.empty());
  CHECK(bench.loop.counters().decisions == 8);
  bench.add(3, 1);  // what had come was kept
  bench.add(9, 1);
  REQUIRE(bench.step());
  REQUIRE(bench.step());
  CHECK(bench.algorithm.batches == std::vector<std::size_t>{14, 18});
}

TEST_CASE("each message is given back once, as soon as it is taken", "[unit][learner]") {
  Bench bench;
  bench.add(1, 1, "a");
  bench.add(1, 1, "b");
  bench.add(1, 1, "a");
  // The batch is not full: actors that had to wait for it could never fill it.
  CHECK(bench.step().error().code == Errc::kTimeout);
  CHECK(bench.source.consumed_of == std::map<std::string, int>{{"a", 2}, {"b", 1}});
  bench.add(9, 1, "b");
  REQUIRE(bench.step());
  CHECK(bench.source.consumed_of == std::map<std::string, int>{{"a", 2}, {"b", 2}});
}

TEST_CASE("every decision that was sent is learned from, stale, a misfit, or still gathered",
          "[unit][learner]") {
  Bench bench;
  for (std::uint32_t i = 0; i < 30; ++i) bench.add(1 + i % 4, i % 3);
  bench.add(7, 1, "a", graph_of_width(0, 1), 5);  // other global features
  bench.add(2, 1, "a", graph_of_width(4, 2));     // a graph of another width
  bench.add(4, 1, "a", graph_of_width(0, 3));     // a graph that is new, and fits
  while (bench.loop.step({}, Deadline::never())) {
  }
  const LearnerCounters& counters = bench.loop.counters();
  CHECK(counters.misfits == 2);
  CHECK(counters.samples == bench.algorithm.learned);
  const std::int64_t misfit_decisions = 2 * (7 + 2);
  CHECK(counters.decisions == bench.sent - misfit_decisions);
  const std::int64_t gathered = counters.decisions - counters.samples - counters.stale;
  CHECK(gathered >= 0);
  CHECK(gathered < kBatch);
  CHECK(counters.stale > 0);
  CHECK(bench.source.consumed_of["a"] == 33);
}

TEST_CASE("messages that never fit do not hold up who waits for the learner", "[unit][learner]") {
  Bench bench;
  for (int i = 0; i < 5; ++i) bench.add(7, 1, "a", graph_of_width(0, 1), 5);
  CHECK(bench.step().error().code == Errc::kTimeout);
  CHECK(bench.loop.counters().misfits == 1);
  std::stop_source stop;
  stop.request_stop();
  CHECK(bench.loop.step(stop.get_token(), Deadline::never()).error().code == Errc::kStopped);
  CHECK(bench.loop.counters().misfits == 2);
}

TEST_CASE("weights are published after each update that changed them", "[unit][learner]") {
  Bench bench;
  bench.loop.publish();
  bench.add(5, 1);
  REQUIRE(bench.step());
  bench.add(5, 0);  // all stale: nothing changes
  REQUIRE(bench.step());
  bench.algorithm.applies = false;
  bench.add(5, 1);
  REQUIRE(bench.step());
  bench.algorithm.applies = true;
  bench.add(5, 1);
  REQUIRE(bench.step());
  CHECK(bench.sink.versions == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(bench.loop.counters().updates == 2);
}

TEST_CASE("updates that would not be finite are counted, until one is", "[unit][learner]") {
  Bench bench;
  bench.algorithm.diverges = true;
  for (int i = 0; i < 3; ++i) {
    bench.add(5, 1);
    REQUIRE(bench.step());
  }
  bench.add(5, 0);  // all stale: says nothing either way
  bench.algorithm.diverges = false;
  REQUIRE(bench.step());
  CHECK(bench.loop.skipped_in_a_row() == 3);
  bench.add(5, 1);
  REQUIRE(bench.step());
  CHECK(bench.loop.skipped_in_a_row() == 0);
  CHECK(bench.loop.counters().skipped == 3);
  CHECK(bench.loop.counters().updates == 1);
}

TEST_CASE("weights that are not finite are not published", "[unit][learner]") {
  Bench bench;
  bench.algorithm.weights = {1, std::numeric_limits<float>::infinity()};
  CHECK_FALSE(bench.loop.publish());
  bench.add(5, 1);
  REQUIRE(bench.step());
  CHECK(bench.sink.versions.empty());
  CHECK(bench.loop.skipped_in_a_row() == 1);
}

TEST_CASE("the end of the source ends the wait, and what was gathered stays", "[unit][learner]") {
  Bench bench;
  bench.add(2, 1);
  bench.source.when_empty = Errc::kStopped;
  CHECK(bench.step().error().code == Errc::kStopped);
  CHECK(bench.loop.counters().decisions == 4);
}

TEST_CASE("statistics say what happened since they were last taken", "[unit][learner]") {
  Bench bench;
  bench.algorithm.updates = 6;
  bench.loop.restore({.updates = 6, .decisions = 100});
  bench.add(5, 4);
  auto& episodes = bench.source.messages.back().sequences.episodes;
  episodes = {{-2, 4, {0.25}}, {5, 4, {0}}, {0, 1, {std::nan("")}}};
  REQUIRE(bench.step());
  const LearnerStatistics first = bench.loop.take_statistics();
  CHECK(first.policy_lag.max() == 2);  // of the version that was restored, not of a fresh start
  CHECK(first.episodes.episodes == 3);
  CHECK(first.episodes.return_sum == 3);
  CHECK(first.episodes.metric_sum[0] == 0.25);
  CHECK(first.episodes.metric_count[0] == 2);  // undefined in the third
  CHECK(first.updates == 1);
  CHECK(first.loss_sum == 3);
  CHECK(first.scalar_sums.at("entropy") == 0.5);
  const LearnerStatistics none = bench.loop.take_statistics();
  CHECK(none.episodes.episodes == 0);
  CHECK(none.scalar_sums.empty());
  CHECK(bench.loop.counters().decisions == 110);
  CHECK(bench.loop.counters().episodes == 3);
}

}  // namespace
}  // namespace pacml::learner
