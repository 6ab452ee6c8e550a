#include "learner/replay_updates.h"

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "learner/learner_loop.h"
#include "tests/support/catch.h"
#include "tests/support/transition_builder.h"

namespace pacml::learner {
namespace {

const model::NetworkShape kShape{model::NetworkConfig{}, {{2, 0}}, 1, 3};

env::GraphFeaturesPtr graph(std::uint64_t hash, int width = kShape.graph().node_width) {
  auto out = std::make_shared<env::GraphFeatures>();
  out->num_nodes = 1;
  out->node_width = width;
  out->node_features.assign(static_cast<std::size_t>(width), 1.0F);
  out->hash = GraphHash{hash};
  return out;
}

// Gives every transition its return as a priority.
class EchoingAlgorithm final : public TransitionAlgorithm {
 public:
  std::vector<std::size_t> batches;  // rows of each
  std::vector<std::size_t> graphs;   // in each list that was set
  std::vector<std::int32_t> first_graph;
  std::vector<double> first_probability;
  std::int64_t updates = 0;
  bool applies = true;

  void set_graphs(std::span<const env::GraphFeaturesPtr> list) override {
    graphs.push_back(list.size());
  }
  Result<UpdateReport> update(const TransitionBatch& batch) override {
    batches.push_back(batch.size());
    first_graph.push_back(batch.states.graph(0));
    first_probability.push_back(batch.probabilities[0]);
    UpdateReport report;
    report.decisions = static_cast<std::int64_t>(batch.size());
    if (applies) report.outcome = Outcome::kApplied;
    if (!applies) return report;
    ++updates;
    report.priorities = batch.n_step_returns;
    report.loss = 2;
    return report;
  }
  void set_share_done(double /*share*/) override {}
  PolicyVersion version() const override {
    return PolicyVersion{static_cast<std::uint64_t>(updates)};
  }
  model::Parameters snapshot() const override { return {version(), 0, {}}; }
  AlgorithmState save() const override { return {}; }
  Result<void> restore(const AlgorithmState&) override { return {}; }
};

class ListedTransitions final : public TransitionSource {
 public:
  std::deque<SampledTransitions> batches;
  News news;
  std::map<std::uint64_t, std::vector<std::vector<float>>> answers;  // of each ticket
  Errc when_empty = Errc::kTimeout;

  Result<SampledTransitions> next(std::stop_token, Deadline) override {
    if (batches.empty()) return fail(when_empty);
    auto batch = std::move(batches.front());
    batches.pop_front();
    return batch;
  }
  void report_priorities(std::uint64_t ticket, std::span<const float> priorities) override {
    answers[ticket].emplace_back(priorities.begin(), priorities.end());
  }
  News take_news() override { return std::exchange(news, {}); }
  std::size_t queue_depth() const override { return batches.size(); }
};

class KeepingSink final : public ParametersSink {
 public:
  std::vector<std::uint64_t> versions;
  void publish(model::Parameters parameters) override {
    versions.push_back(parameters.version.get());
  }
};

struct Bench {
  EchoingAlgorithm algorithm;
  ListedTransitions source;
  KeepingSink sink;
  ReplayUpdates updates{algorithm, kShape, source};
  LearnerLoop loop{algorithm, updates, sink};

  // Rows with returns 1, 2, ..., of weights of `version`.
  void add(std::uint64_t ticket, std::size_t rows, env::GraphFeaturesPtr in = graph(1),
           std::uint64_t version = 0, std::uint32_t globals = 1) {
    std::vector<PlainTransition> list(rows);
    for (std::size_t n = 0; n < rows; ++n) {
      list[n].n_step_return = static_cast<float>(n + 1);
      list[n].version = version;
    }
    source.batches.push_back({plain_transitions(list, in->hash, globals),
                              std::vector<double>(rows, 0.01 * static_cast<double>(ticket)),
                              {in},
                              ticket});
  }
  Result<void> step() { return loop.step({}, Deadline::now()); }
};

TEST_CASE("each batch is one update, and its priorities go back to it", "[unit][learner]") {
  Bench bench;
  bench.add(7, 3);
  bench.add(9, 2);
  REQUIRE(bench.step());
  REQUIRE(bench.step());
  CHECK(bench.step().error().code == Errc::kTimeout);
  CHECK(bench.algorithm.batches == std::vector<std::size_t>{3, 2});
  CHECK(bench.algorithm.first_probability == std::vector{0.07, 0.09});
  using Answers = std::vector<std::vector<float>>;
  CHECK(bench.source.answers[7] == Answers{{1, 2, 3}});
  CHECK(bench.source.answers[9] == Answers{{1, 2}});
  CHECK(bench.loop.counters().samples == 5);
  CHECK(bench.loop.counters().updates == 2);
  CHECK(bench.sink.versions == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("a batch that changed nothing is answered all the same", "[unit][learner]") {
  Bench bench;
  bench.algorithm.applies = false;
  bench.add(7, 3);
  REQUIRE(bench.step());
  CHECK(bench.source.answers[7] == std::vector<std::vector<float>>{{}});
  CHECK(bench.loop.counters().updates == 0);
  CHECK(bench.sink.versions.empty());
}

TEST_CASE("a batch for another network is left out, answered and counted", "[unit][learner]") {
  Bench bench;
  bench.add(1, 3, graph(1), 0, 4);  // other global features
  bench.add(2, 3, graph(2, 5));     // a graph of another width
  bench.add(3, 0);                  // nothing at all
  bench.add(4, 2);
  REQUIRE(bench.loop.step({}, Deadline::never()));
  CHECK(bench.algorithm.batches == std::vector<std::size_t>{2});
  CHECK(bench.loop.counters().misfits == 3);
  for (const std::uint64_t ticket : {1, 2, 3}) {
    CHECK(bench.source.answers[ticket] == std::vector<std::vector<float>>{{}});
  }
}

TEST_CASE("a source that is full of misfits does not hold up who waits for the learner",
          "[unit][learner]") {
  Bench bench;
  for (std::uint64_t ticket = 0; ticket < 5; ++ticket) bench.add(ticket, 1, graph(1), 0, 4);
  CHECK(bench.step().error().code == Errc::kTimeout);
  CHECK(bench.loop.counters().misfits == 1);
  std::stop_source stop;
  stop.request_stop();
  CHECK(bench.loop.step(stop.get_token(), Deadline::never()).error().code == Errc::kStopped);
  CHECK(bench.loop.counters().misfits == 2);
}

TEST_CASE("graphs are set when one is new, and keep their index", "[unit][learner]") {
  Bench bench;
  bench.add(1, 1, graph(10));
  bench.add(2, 1, graph(20));
  bench.add(3, 1, graph(10));
  while (bench.step()) {
  }
  CHECK(bench.algorithm.graphs == std::vector<std::size_t>{1, 2});
  CHECK(bench.algorithm.first_graph == std::vector<std::int32_t>{0, 1, 0});
}

TEST_CASE("news of the replay count even while no batch comes", "[unit][learner]") {
  Bench bench;
  bench.loop.restore({.updates = 4, .decisions = 1000, .episodes = 6});
  bench.source.news = {50, {{-2, 4, {0.5, 1}}, {5, 4, {0, std::nan("")}}}};
  CHECK(bench.step().error().code == Errc::kTimeout);
  bench.source.news = {7, {}};
  bench.source.when_empty = Errc::kStopped;
  CHECK(bench.step().error().code == Errc::kStopped);
  CHECK(bench.loop.counters().decisions == 1057);  // on top of those before the restart
  CHECK(bench.loop.counters().episodes == 8);
  const LearnerStatistics statistics = bench.loop.take_statistics();
  CHECK(statistics.episodes.episodes == 2);
  CHECK(statistics.episodes.return_sum == 3);
  CHECK(statistics.episodes.metric_sum[0] == 0.5);
  CHECK(statistics.episodes.metric_count[0] == 2);
  CHECK(statistics.episodes.metric_sum[1] == 1);  // undefined in the second
  CHECK(statistics.episodes.metric_count[1] == 1);
}

TEST_CASE("the lag of samples is in versions, and never below 0", "[unit][learner]") {
  Bench bench;
  bench.algorithm.updates = 10;
  bench.add(1, 3, graph(1), 4);
  bench.add(2, 1, graph(1), 99);  // of before the learner went back to a checkpoint
  REQUIRE(bench.step());
  REQUIRE(bench.step());
  const LearnerStatistics statistics = bench.loop.take_statistics();
  CHECK(statistics.policy_lag.count() == 4);
  CHECK(statistics.policy_lag.max() == 6);
  CHECK(statistics.policy_lag.quantile(0.25) == 0);
  CHECK(statistics.updates == 2);
  CHECK(statistics.loss_sum == 4);
}

TEST_CASE("what is ready to be learned from is the source's", "[unit][learner]") {
  Bench bench;
  bench.add(1, 1);
  bench.add(2, 1);
  CHECK(bench.loop.queue_depth() == 2);
}

}  // namespace
}  // namespace pacml::learner
