#include "learner/apex_dqn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/tabular_network.h"
#include "tests/support/transition_builder.h"
#include "tests/support/update_report.h"

namespace pacml::learner {
namespace {

constexpr std::size_t kStates = 6;
constexpr int kActions = 3;
constexpr std::size_t kValues = kStates * kActions;  // where the values begin in the table

struct Bench {
  explicit Bench(const ApexConfig& config) : apex(config, network, online, target) {}
  model::TabularNetwork network{kStates, 1, kActions};
  model::TabularPolicy online{kStates, kActions};
  model::TabularPolicy target{kStates, kActions};
  ApexDqn apex;

  // Q(s, a) of published weights, by definition, all actions valid.
  [[nodiscard]] double q(std::size_t state, std::size_t action) const {
    const auto weights = apex.snapshot().values;
    double mean = 0;
    for (std::size_t a = 0; a < kActions; ++a) mean += weights[state * kActions + a] / kActions;
    return weights[kValues + state] + weights.back() + weights[state * kActions + action] - mean;
  }
};

// The published algorithm: no normalisation.
ApexConfig plain_config() {
  ApexConfig config;
  config.value_normalisation = ValueNormalisation::kNone;
  config.learning_rate.start = 0.05;
  config.target_period = 1'000'000;
  return config;
}

TransitionBatch batch_of(const std::vector<PlainTransition>& rows,
                         std::vector<double> probabilities = {}) {
  GraphRegistry registry;
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->hash = GraphHash{5};
  registry.add(graph);
  const Transitions transitions = plain_transitions(rows, GraphHash{5});
  REQUIRE(validate(transitions));
  if (probabilities.empty()) probabilities.assign(rows.size(), 0.1);
  TransitionBatch batch;
  assemble(transitions, probabilities, registry, batch);
  return batch;
}

void set_table(model::TabularNetwork& network, std::size_t state, std::vector<float> advantages,
               float value) {
  std::ranges::copy(advantages,
                    network.parameters().begin() + static_cast<std::ptrdiff_t>(state * kActions));
  network.parameters()[kValues + state] = value;
}

TEST_CASE("the first update's errors and loss are the formulas' numbers", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  set_table(network, 0, {1, 2, 6}, 10);   // Q = 8, 9, 13
  set_table(network, 1, {4, -2, 1}, -5);  // Q = -2, -8, -5; without action 0: -6.5, -3.5
  model::TabularPolicy online(kStates, kActions);
  model::TabularPolicy target(kStates, kActions);
  ApexConfig config = plain_config();
  config.importance_exponent = 0.5;
  ApexDqn apex(config, network, online, target);
  const auto report =
      apex
          .update(batch_of(
              {{.state = 0, .action = 1, .n_step_return = 3, .discount = 0.5, .next_state = 1},
               {.state = 0,
                .action = 2,
                .n_step_return = 3,
                .discount = 0.5,
                .next_state = 1,
                .next_mask = {0, 1, 1}},
               {.state = 1, .action = 0, .n_step_return = -2.5F, .discount = 0, .next_state = 0}},
              {0.04, 0.01, 0.09}))
          .value();
  // y = 3 + 0.5 * -2 = 2;  3 + 0.5 * -3.5 = 1.25;  -2.5.
  const std::vector<double> errors = {9 - 2, 13 - 1.25, -2 + 2.5};
  const std::vector<double> weights = {1.0 / 2, 1, 1.0 / 3};
  double loss = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(report.priorities[n] == Approx(std::abs(errors[n])));
    const double e = std::abs(errors[n]);
    loss += weights[n] * (e <= 1 ? e * e / 2 : e - 0.5) / 3;
  }
  CHECK(report.loss == Approx(loss));
  CHECK(report.outcome == Outcome::kApplied);
  CHECK(report.decisions == 3);
  CHECK(report.stale == 0);
  CHECK(scalar(report, "td_error") == Approx((7 + 11.75 + 0.5) / 3));
  CHECK(scalar(report, "q_value") == Approx((9 + 13 - 2) / 3.0));
  CHECK(scalar(report, "value_target") == Approx((2 + 1.25 - 2.5) / 3));
  CHECK(scalar(report, "importance_weight") == Approx((0.5 + 1 + 1.0 / 3) / 3));
}

TEST_CASE("heads of actions say the value of an action, and learn it whatever the others are worth",
          "[unit][learner]") {
  ApexConfig config = plain_config();
  config.heads = model::ValueHeads::kActions;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 0.05, .end = 0, .decisions = 2 * 4000};
  Bench bench(config);
  set_table(bench.network, 0, {1, 2, 6}, 0);
  set_table(bench.network, 1, {4, -2, 1}, 0);
  // y = 3 + 0.5 max(0, 0, 0): the target network still says 0 of everything; -2.5.
  const auto batch =
      batch_of({{.state = 0, .action = 1, .n_step_return = 3, .discount = 0.5, .next_state = 1},
                {.state = 1, .action = 0, .n_step_return = -2.5F, .discount = 0, .next_state = 0}});
  const auto report = bench.apex.update(batch).value();
  CHECK(report.priorities[0] == Approx(1));
  CHECK(report.priorities[1] == Approx(6.5));
  for (int i = 1; i < 4000; ++i)
    REQUIRE(bench.apex.update(batch).value().outcome == Outcome::kApplied);
  const auto weights = bench.apex.snapshot().values;
  CHECK(weights[1] == Approx(3).margin(0.02));
  CHECK(weights[kActions] == Approx(-2.5).margin(0.02));
  CHECK(weights[0] == 1);  // nobody took these
  CHECK(weights[2] == 6);
  // The value is held.
  for (std::size_t i = kValues; i < weights.size(); ++i) CHECK(weights[i] == 0);
}

TEST_CASE("values of heads of actions start at 0, whatever the weights say", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  set_table(network, 0, {1, 2, 6}, 10);
  model::TabularPolicy online(kStates, kActions);
  model::TabularPolicy target(kStates, kActions);
  ApexConfig config = plain_config();
  config.heads = model::ValueHeads::kActions;
  const ApexDqn apex(config, network, online, target);
  CHECK(network.parameters()[2] == 6);
  CHECK(network.parameters()[kValues] == 0);
}

TEST_CASE("targets that are centred are less what their steps pay on average", "[unit][learner]") {
  ApexConfig config = plain_config();
  config.centre_rewards = true;
  const double gamma = 0.99;
  Bench bench(config);
  Transitions transitions = plain_transitions(
      std::vector<PlainTransition>{
          {.n_step_return = -6, .discount = static_cast<float>(std::pow(gamma, 3))},
          {.n_step_return = -2, .discount = static_cast<float>(std::pow(gamma, 2.25))},
          {.n_step_return = -1, .discount = 0}},
      GraphHash{5});
  // Three decisions, two that took .25 and 2, and two of .01 each, which ended the episode.
  const std::vector<double> times = {1 + gamma + gamma * gamma, 0.25 + 2 * std::pow(gamma, 0.25),
                                     0.01 + 0.01 * std::pow(gamma, 0.01)};
  for (std::size_t n = 0; n < 3; ++n) {
    transitions.heads[n].discounted_time = static_cast<float>(times[n]);
  }
  GraphRegistry registry;
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->hash = GraphHash{5};
  registry.add(graph);
  TransitionBatch batch;
  // What is drawn more often counts as if it were not.
  assemble(transitions, std::vector<double>{0.4, 0.1, 0.2}, registry, batch);
  const auto report = bench.apex.update(batch).value();
  const double rate = (-6 * 2.5 - 2 * 10 - 1 * 5) / (times[0] * 2.5 + times[1] * 10 + times[2] * 5);
  CHECK(scalar(report, "reward_rate") == Approx(rate));
  const std::vector<double> returns = {-6, -2, -1};
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(report.priorities[n] == Approx(std::abs(returns[n] - rate * times[n])));
  }
}

TEST_CASE("a draw's weight scales its share of the gradient", "[unit][learner]") {
  // With one step of RMSProp without memory and a large epsilon, a weight moves as its gradient.
  ApexConfig config = plain_config();
  config.importance_exponent = 1;
  config.optimizer = {.kind = OptimizerKind::kRmsProp, .decay = 0, .epsilon = 1e3};
  Bench bench(config);
  static_cast<void>(
      bench.apex
          .update(batch_of({{.state = 0, .n_step_return = 0.5}, {.state = 1, .n_step_return = 0.5}},
                           {0.08, 0.02}))
          .value());
  const auto weights = bench.network.parameters();
  CHECK(weights[kValues + 1] > 0);
  CHECK(weights[kValues + 1] == Approx(4 * weights[kValues]).epsilon(1e-3));
}

TEST_CASE("repeated updates reach the value of every action that was taken", "[unit][learner]") {
  const auto normalisation = GENERATE(ValueNormalisation::kNone, ValueNormalisation::kPopArt);
  ApexConfig config = plain_config();
  config.value_normalisation = normalisation;
  config.learning_rate = {
      .kind = ScheduleKind::kLinear, .start = 0.05, .end = 0, .decisions = 4 * 4000};
  Bench bench(config);
  const auto batch = batch_of({{.state = 0, .action = 0, .n_step_return = 20},
                               {.state = 0, .action = 1, .n_step_return = 22},
                               {.state = 0, .action = 2, .n_step_return = 27},
                               {.state = 3, .action = 1, .n_step_return = 31}});
  for (int i = 0; i < 4000; ++i)
    REQUIRE(bench.apex.update(batch).value().outcome == Outcome::kApplied);
  // Published weights are in the unit of rewards, whatever the unit of training.
  CHECK(bench.q(0, 0) == Approx(20).margin(0.1));
  CHECK(bench.q(0, 1) == Approx(22).margin(0.1));
  CHECK(bench.q(0, 2) == Approx(27).margin(0.1));
  CHECK(bench.q(3, 1) == Approx(31).margin(0.1));
}

TEST_CASE("moments that move leave action values where they are", "[unit][learner]") {
  ApexConfig config = plain_config();
  config.value_normalisation = ValueNormalisation::kPopArt;
  config.popart_rate = 0.5;
  config.learning_rate.start = 0;
  Bench bench(config);
  set_table(bench.network, 0, {1, 2, 6}, 10);
  set_table(bench.network, 1, {0, 1, -1}, -3);
  for (const float level : {5.0F, 300.0F, -40.0F}) {
    const auto report =
        bench.apex
            .update(batch_of({{.state = 0, .action = 0, .n_step_return = level},
                              {.state = 1, .action = 2, .n_step_return = level + 9}}))
            .value();
    REQUIRE(report.outcome == Outcome::kApplied);
    CHECK(report.priorities[0] == Approx(std::abs(8 - level)).margin(2e-2));
    CHECK(bench.q(0, 0) == Approx(8).margin(1e-3));
    CHECK(bench.q(0, 2) == Approx(13).margin(1e-3));
    CHECK(bench.q(1, 2) == Approx(-4).margin(1e-3));
  }
  CHECK(bench.network.parameters()[2] != Approx(6));  // though the weights did move
}

TEST_CASE("the target network is renewed every so many updates, in the unit of rewards",
          "[unit][learner]") {
  ApexConfig config = plain_config();
  config.target_period = 3;
  config.value_normalisation = ValueNormalisation::kPopArt;
  Bench bench(config);
  const auto batch = batch_of({{.state = 0, .action = 0, .n_step_return = 5}});
  const std::vector<float> first = bench.apex.save().vectors.at("target");
  for (int update = 1; update <= 9; ++update) {
    const auto before = bench.apex.save().vectors.at("target");
    static_cast<void>(bench.apex.update(batch).value());
    const auto after = bench.apex.save().vectors.at("target");
    INFO("update " << update);
    if (update % 3 == 0) {
      CHECK(after == bench.apex.snapshot().values);
      CHECK(after != before);
    } else {
      CHECK(after == before);
    }
  }
}

TEST_CASE("targets follow the target network, choices the one in training", "[unit][learner]") {
  ApexConfig config = plain_config();
  Bench bench(config);  // its target network says 0 of everything
  set_table(bench.network, 1, {0, 50, 0}, 100);
  const auto batch =
      batch_of({{.state = 0, .action = 0, .n_step_return = 2, .discount = 0.9F, .next_state = 1}});
  CHECK(scalar(bench.apex.update(batch).value(), "value_target") == 2);

  AlgorithmState state = bench.apex.save();
  // Action 1 is the choice; the target network would choose action 2, which is worth 7 to it.
  std::ranges::copy(std::vector{0.0F, -6.0F, 6.0F}, state.vectors["target"].begin() + kActions);
  state.vectors["target"][kValues + 1] = 1;
  REQUIRE(bench.apex.restore(state));
  CHECK(scalar(bench.apex.update(batch).value(), "value_target") == Approx(2 + 0.9 * (1 - 6)));
}

TEST_CASE("what follows a terminated episode is not looked at, a truncated one is",
          "[unit][learner]") {
  Bench bench(plain_config());
  AlgorithmState state = bench.apex.save();
  state.vectors["target"][kValues + 1] = std::numeric_limits<float>::quiet_NaN();
  state.vectors["target"][kValues + 2] = 30;
  REQUIRE(bench.apex.restore(state));
  const auto report =
      bench.apex
          .update(batch_of({{.state = 0, .n_step_return = 1, .discount = 0, .next_state = 1},
                            {.state = 0, .n_step_return = 1, .discount = 0.5F, .next_state = 2}}))
          .value();
  REQUIRE(report.outcome == Outcome::kApplied);
  CHECK(scalar(report, "value_target") == Approx((1 + 16) / 2.0));
}

TEST_CASE("targets or weights that are not finite skip the update and report no priorities",
          "[unit][learner]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  Bench bench(plain_config());
  const auto batch = batch_of({{.state = 0, .n_step_return = 1, .discount = 1, .next_state = 1}});
  AlgorithmState state = bench.apex.save();
  state.vectors["target"][kValues + 1] = bad;
  REQUIRE(bench.apex.restore(state));
  const std::vector<float> before(bench.network.parameters().begin(),
                                  bench.network.parameters().end());
  auto report = bench.apex.update(batch).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(report.priorities.empty());
  CHECK(std::ranges::equal(bench.network.parameters(), before));

  Bench broken(plain_config());
  broken.network.parameters()[0] = bad;
  report = broken.apex.update(batch).value();
  CHECK(report.outcome == Outcome::kDiverged);
  CHECK(broken.apex.version() == PolicyVersion{0});
}

TEST_CASE("a restored learner goes on exactly, target network and moments included",
          "[unit][learner]") {
  const auto kind =
      GENERATE(OptimizerKind::kAdam, OptimizerKind::kRmsProp, OptimizerKind::kRmsPropCentred);
  ApexConfig config;
  config.optimizer.kind = kind;
  config.target_period = 4;
  config.centre_rewards = GENERATE(false, true);
  config.learning_rate = {.kind = ScheduleKind::kLinear, .start = 0.1, .end = 0, .decisions = 100};
  const auto batch =
      batch_of({{.state = 0, .action = 1, .n_step_return = 1, .discount = 0.9F, .next_state = 1},
                {.state = 1, .action = 2, .n_step_return = -3, .discount = 0.9F, .next_state = 0}},
               {0.2, 0.5});
  Bench one(config);
  for (int i = 0; i < 6; ++i) REQUIRE(one.apex.update(batch).value().outcome == Outcome::kApplied);
  Bench two(config);
  REQUIRE(two.apex.restore(one.apex.save()));
  CHECK(two.apex.save() == one.apex.save());
  for (int i = 0; i < 6; ++i) {
    const auto first = one.apex.update(batch).value();
    const auto second = two.apex.update(batch).value();
    CHECK(first.loss == second.loss);
    CHECK(first.priorities == second.priorities);
  }
  CHECK(two.apex.save() == one.apex.save());
  CHECK(two.apex.snapshot() == one.apex.snapshot());
}

TEST_CASE("a state without a target network of this size is refused", "[unit][learner]") {
  Bench bench(plain_config());
  const AlgorithmState good = bench.apex.save();
  const auto refused = [&](const AlgorithmState& state) {
    const auto result = bench.apex.restore(state);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Errc::kVersionMismatch);
    CHECK(result.error().detail ==
          "the checkpoint's target network is not that of this configuration");
    CHECK(bench.apex.save() == good);
  };
  AlgorithmState state = good;
  state.vectors.erase("target");
  refused(state);
  state = good;
  state.vectors["target"].push_back(0);
  refused(state);
}

// Remembers how many graphs it was given.
class GraphCountingPolicy final : public model::Policy {
 public:
  std::size_t graphs = 0;
  void set_graphs(std::span<const env::GraphFeaturesPtr> list) override { graphs = list.size(); }
  [[nodiscard]] const model::ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const model::Parameters&) override {}
  void evaluate(const Observations&, model::PolicyOutput&) override {}

 private:
  model::ParameterLayout layout_;
};

TEST_CASE("graphs reach the passes without gradient, too", "[unit][learner]") {
  model::TabularNetwork network(kStates, 1, kActions);
  GraphCountingPolicy online;
  GraphCountingPolicy target;
  ApexDqn apex(plain_config(), network, online, target);
  apex.set_graphs(std::vector<env::GraphFeaturesPtr>(3));
  CHECK(online.graphs == 3);
  CHECK(target.graphs == 3);
}

TEST_CASE("settings of Ape-X out of range are named", "[unit][learner]") {
  REQUIRE(validate(ApexConfig{}).empty());
  const auto only_problem = [](auto change) {
    ApexConfig config;
    change(config);
    const auto problems = validate(config);
    REQUIRE(problems.size() == 1);
    return problems[0];
  };
  CHECK(only_problem([](ApexConfig& c) { c.batch_size = 0; }) ==
        "batch_size must be from 1 to 65536, not 0");
  CHECK(only_problem([](ApexConfig& c) {
          c.importance_exponent = 1.5;
        }).starts_with("importance_exponent"));
  CHECK(only_problem([](ApexConfig& c) { c.heads = model::ValueHeads::kValue; }) ==
        "heads: must be duelling or actions; value says nothing of actions");
  CHECK(only_problem([](ApexConfig& c) { c.target_period = 0; }).starts_with("target_period"));
  CHECK(
      only_problem([](ApexConfig& c) { c.huber_delta = std::nan(""); }).starts_with("huber_delta"));
  CHECK(only_problem([](ApexConfig& c) { c.popart_rate = 0; }).starts_with("popart_rate"));
}

}  // namespace
}  // namespace pacml::learner
