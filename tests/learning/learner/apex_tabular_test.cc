#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "learner/apex_dqn.h"
#include "learner/learner_loop.h"
#include "learner/replay_updates.h"
#include "tests/learning/learner/chain_q_values.h"
#include "tests/support/tabular_network.h"
#include "tests/support/transition_builder.h"

// Ape-X on a table, from acting to weights, in a process whose best action values are known. A
// table can hold them exactly, so what is missing is the algorithm's.

namespace pacml::learner {
namespace {

using testing::ChainReplay;
using testing::ChainView;

constexpr std::size_t kStates = 2 * env::SignalChain::kLength;
constexpr int kActions = 3;
constexpr int kUpdates = 3000;
constexpr double kError = 0.03;  // of values between 0.3 and 1

ApexConfig settings() {
  ApexConfig config;
  config.target_period = 50;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 2e-2, .end = 5e-4, .decisions = kUpdates * 64};
  return config;
}

std::vector<float> train(const ApexConfig& config, const ChainReplay::Options& options, Seed seed) {
  model::TabularNetwork network(kStates, 1, kActions);
  model::TabularPolicy online(kStates, kActions);
  model::TabularPolicy target(kStates, kActions);
  ApexDqn apex(config, network, online, target);
  ChainReplay replay(options, std::make_unique<model::TabularPolicy>(kStates, kActions), seed);
  ReplayUpdates updates(apex, network.shape(), replay);
  LearnerLoop loop(apex, updates, replay);
  loop.publish();
  for (int n = 0; n < kUpdates; ++n) REQUIRE(loop.step({}, Deadline::never()));
  REQUIRE(loop.counters().updates == kUpdates);
  REQUIRE(loop.counters().misfits == 0);
  model::TabularPolicy trained(kStates, kActions);
  trained.set_parameters(apex.snapshot());
  return q_everywhere(trained, ChainView::kTable, config.heads);
}

TEST_CASE("Ape-X finds the best action values of the signal chain", "[learning][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 8));
  INFO("seed " << seed);
  const ChainReplay::Options options;
  require_best(train(settings(), options, Seed{seed}), options.discount, kError);
}

TEST_CASE("Ape-X without normalised values finds the same", "[learning][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  INFO("seed " << seed);
  ApexConfig config = settings();
  config.value_normalisation = ValueNormalisation::kNone;
  const ChainReplay::Options options;
  require_best(train(config, options, Seed{seed}), options.discount, kError);
}

TEST_CASE("Ape-X whose heads say action values finds the same", "[learning][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  INFO("seed " << seed);
  ApexConfig config = settings();
  config.heads = model::ValueHeads::kActions;
  const ChainReplay::Options options;
  require_best(train(config, options, Seed{seed}), options.discount, kError);
}

TEST_CASE("three steps at once find the best policy", "[learning][learner]") {
  // Values of three steps contain those of the random actions among them: with few of these, the
  // error is bounded by what they cost.
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  INFO("seed " << seed);
  ChainReplay::Options options;
  options.steps = 3;
  options.epsilon = 0.1;
  require_best(train(settings(), options, Seed{seed}), options.discount, 0.12);
}

// One decision that ends the episode with 10 in one case of ten and with nothing in the others,
// stored ten times and drawn in proportion to the errors.
class Lottery final : public TransitionSource {
 public:
  explicit Lottery(Seed seed) : rng_(seed) {
    for (std::size_t n = 0; n < kTickets; ++n) {
      rows_.push_back({.n_step_return = n == 0 ? 10.0F : 0.0F});
    }
    graph_ = ChainReplay::graphs(ChainView::kTable)[0];
  }
  Result<SampledTransitions> next(std::stop_token, Deadline) override {
    const double total = std::accumulate(priorities_.begin(), priorities_.end(), 0.0);
    SampledTransitions out;
    std::vector<PlainTransition> rows;
    drawn_.clear();
    for (int n = 0; n < 64; ++n) {
      std::size_t slot = 0;
      double left = rng_.uniform() * total;
      while (slot + 1 < kTickets && left >= priorities_[slot]) left -= priorities_[slot++];
      drawn_.push_back(slot);
      rows.push_back(rows_[slot]);
      out.probabilities.push_back(priorities_[slot] / total);
    }
    out.transitions = plain_transitions(rows, graph_->hash);
    out.graphs = {graph_};
    return out;
  }
  void report_priorities(std::uint64_t, std::span<const float> priorities) override {
    for (std::size_t n = 0; n < priorities.size(); ++n)
      priorities_[drawn_[n]] = priorities[n] + 1e-3;
  }
  News take_news() override { return {}; }
  [[nodiscard]] std::size_t queue_depth() const override { return 0; }

 private:
  static constexpr std::size_t kTickets = 10;
  Rng rng_;
  std::vector<PlainTransition> rows_;
  std::vector<double> priorities_ = std::vector<double>(kTickets, 1.0);
  std::vector<std::size_t> drawn_;
  env::GraphFeaturesPtr graph_;
};

class NoSink final : public ParametersSink {
 public:
  void publish(model::Parameters) override {}
};

TEST_CASE("importance weights take out what prioritized draws put in", "[learning][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 6));
  const auto value_at_exponent = [&](double exponent) {
    ApexConfig config;
    config.value_normalisation = ValueNormalisation::kNone;
    config.huber_delta = 1000;  // a mean is wanted, not a median
    config.importance_exponent = exponent;
    config.learning_rate = {
        .kind = ScheduleKind::kLinear, .start = 2e-2, .end = 1e-4, .decisions = 3000 * 64};
    model::TabularNetwork network(1, 1, kActions);
    model::TabularPolicy online(1, kActions);
    model::TabularPolicy target(1, kActions);
    ApexDqn apex(config, network, online, target);
    Lottery lottery(Seed{seed});
    NoSink sink;
    ReplayUpdates updates(apex, network.shape(), lottery);
    LearnerLoop loop(apex, updates, sink);
    for (int n = 0; n < 3000; ++n) REQUIRE(loop.step({}, Deadline::never()));
    model::TabularPolicy trained(1, kActions);
    trained.set_parameters(apex.snapshot());
    Observations state(plain_shape(1, kActions), 1);
    std::ranges::fill(state.row(0).mask, std::uint8_t{1});
    model::PolicyOutput out;
    trained.evaluate(state, out);
    std::vector<float> q(kActions);
    model::duelling_q_values(out.logits, out.values, state.masks(), kActions, q);
    return q[0];
  };
  INFO("seed " << seed);
  CHECK(value_at_exponent(1) == Approx(1).margin(0.1));  // the mean
  // Draws in proportion to |Q - r| balance where 9 Q^2 = (10 - Q)^2.
  CHECK(value_at_exponent(0) == Approx(2.5).margin(0.2));
}

}  // namespace
}  // namespace pacml::learner
