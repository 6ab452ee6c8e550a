#include "apps/roles/policy_scores.h"

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/initialise.h"
#include "model/layout.h"
#include "tests/support/always_agent.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using Outcome = PolicyScores::Outcome;

constexpr int kActions = 4;

// One decision an episode, which comes to the number of its action. A second metric is defined for
// odd actions only.
class Choice final : public env::Environment {
 public:
  explicit Choice(std::shared_ptr<const env::EnvironmentSpec> spec) : spec_(std::move(spec)) {}
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return *spec_; }
  void reset(Seed /*seed*/) override { summary_ = {}; }
  [[nodiscard]] env::StepResult step(int action) override {
    summary_.decisions = 1;
    summary_.metrics[0] = action;
    summary_.metrics[1] = action % 2 == 1 ? 10.0 * action : std::nan("");
    return {.terminated = true};
  }
  void observe(Observations& out) const override {
    const ObservationRow row = out.append();
    for (auto& valid : row.mask) valid = 1;
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<Choice>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override { return summary_; }

 private:
  std::shared_ptr<const env::EnvironmentSpec> spec_;
  EpisodeRecord summary_;
};

class ChoiceTask final : public env::Task {
 public:
  explicit ChoiceTask(env::Better better) {
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->num_nodes = graph->num_edges = 1;
    graph->node_width = graph->edge_width = 1;
    graph->node_features = graph->edge_features = {1};
    graph->edge_src = graph->edge_dst = {0};
    graph->hash = env::hash_features(*graph);
    spec_->task = "choice";
    spec_->observation = plain_spec(1, kActions);
    spec_->graphs = {graph};
    spec_->graph_names = {"one"};
    spec_->metrics = {{"number", "number", "1", better, 1, {}},
                      {"odd", "odd", "1", env::Better::kNeither, 1, {}}};
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return *spec_; }
  [[nodiscard]] env::EnvironmentFactory make_factory() const override {
    return [spec = spec_] { return std::make_unique<Choice>(spec); };
  }
  [[nodiscard]] std::vector<env::Baseline> baselines() const override {
    return {{"1", "", true, {}}, {"2", "", true, {}}, {"3", "not compared", false, {}}};
  }
  [[nodiscard]] std::unique_ptr<env::Agent> make_agent(std::string_view name) const override {
    return std::make_unique<testing::AlwaysAgent>(std::stoi(std::string(name)));
  }

 private:
  std::shared_ptr<env::EnvironmentSpec> spec_ = std::make_shared<env::EnvironmentSpec>();
};

// A run whose policies always choose what a test says.
struct Run {
  explicit Run(env::Better better = env::Better::kLower, std::int64_t episodes = 3)
      : task(std::make_shared<ChoiceTask>(better)),
        shape(model::make_shape(config(), task->spec())),
        scores(task, shape, Seed{1}, episodes) {}
  static model::NetworkConfig config() {
    return {.rounds = 1,
            .message_width = 8,
            .hidden_width = 8,
            .node_width = 8,
            .graph_width = 4,
            .readout_width = 8};
  }
  [[nodiscard]] model::Parameters policy(int action, float preference = 100) const {
    auto parameters = model::initialise(shape, Seed{2});
    model::view(parameters, model::make_layout(shape),
                "logits.bias")[static_cast<std::size_t>(action)] = preference;
    return parameters;
  }
  Outcome score(int action) {
    return scores.score(policy(action), [] { return true; });
  }

  env::TaskPtr task;
  model::NetworkShape shape;
  PolicyScores scores;
};

TEST_CASE("the best policy is the one that does best by the task's objective, the first of equals",
          "[unit][train]") {
  SECTION("where lower is better") {
    Run run(env::Better::kLower);
    CHECK(run.score(2) == Outcome::kBest);
    CHECK(run.score(3) == Outcome::kNotBest);
    CHECK(run.score(2) == Outcome::kNotBest);
    CHECK(run.scores.best() == 2);
    CHECK(run.score(1) == Outcome::kBest);
    CHECK(run.scores.best() == 1);
  }
  SECTION("where higher is better") {
    Run run(env::Better::kHigher);
    CHECK(run.score(2) == Outcome::kBest);
    CHECK(run.score(1) == Outcome::kNotBest);
    CHECK(run.score(3) == Outcome::kBest);
    CHECK(run.scores.best() == 3);
  }
}

TEST_CASE("scores are told with the objective, the newest, the best and the best baseline",
          "[unit][train]") {
  Run run(env::Better::kHigher);
  CHECK(run.scores.json() == json{{"objective", "number"},
                                  {"better", "higher"},
                                  {"score", nullptr},
                                  {"best", nullptr},
                                  {"metrics", json::object()}});
  run.score(3);
  run.score(1);
  CHECK(run.scores.json() ==
        json{{"objective", "number"},
             {"better", "higher"},
             {"score", 1},
             {"best", 3},
             {"metrics", {{"number", 1}, {"odd", 10}}},
             {"baseline", {{"name", "2"}, {"score", 2}}},
             {"baselines", {{{"name", "2"}, {"score", 2}}, {{"name", "1"}, {"score", 1}}}}});
  run.score(2);
  CHECK(run.scores.json()["metrics"].dump() == R"({"number":2.0,"odd":null})");
  Run lower(env::Better::kLower);
  lower.score(0);
  CHECK(lower.scores.json()["better"] == "lower");
  CHECK(lower.scores.json()["baseline"] == json{{"name", "1"}, {"score", 1}});
}

TEST_CASE("a policy that says nothing that can be acted upon has no score, and the best one stays",
          "[unit][train]") {
  Run run;
  run.score(1);
  const auto unsound = run.policy(0, std::numeric_limits<float>::quiet_NaN());
  CHECK(run.scores.score(unsound, [] { return true; }) == Outcome::kUnsound);
  CHECK(run.scores.best() == 1);
  CHECK(run.scores.json()["score"].is_null());
  CHECK(run.scores.json()["best"] == 1);
  CHECK(run.score(0) == Outcome::kBest);
}

TEST_CASE("a policy that is not scored to the end changes nothing", "[unit][train]") {
  Run run;
  run.score(2);
  const std::string before = run.scores.json().dump();
  CHECK(run.scores.score(run.policy(0), [] { return false; }) == Outcome::kNone);
  CHECK(run.scores.json().dump() == before);
  CHECK(run.scores.best() == 2);
}

TEST_CASE("a run that goes on has to do better than before", "[unit][train]") {
  Run run;
  run.scores.restore(1);
  CHECK(run.score(2) == Outcome::kNotBest);
  CHECK(run.score(1) == Outcome::kNotBest);
  CHECK(run.score(0) == Outcome::kBest);
}

TEST_CASE("without episodes nothing is ever scored", "[unit][train]") {
  Run run(env::Better::kLower, 0);
  CHECK(run.score(0) == Outcome::kNone);
  CHECK_FALSE(run.scores.best());
  CHECK_FALSE(run.scores.json().contains("baseline"));
}

}  // namespace
}  // namespace pacml::apps
