#include "apps/decide/decision_service.h"

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "apps/decide/decide_bench.h"
#include "apps/evaluation/model_file.h"
#include "common/result.h"
#include "env/tasks/ramp/environment.h"
#include "tests/support/catch.h"
#include "tests/support/random_run.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

// A service whose policy is an exported one with random weights.
class Served {
 public:
  explicit Served(const TrainConfig& config = testing::cluster_config(), std::int64_t updates = 5)
      : config_(config) {
    testing::write_random_policy(file(), config_, updates);
    service_ = std::make_unique<DecisionService>(model());
  }
  [[nodiscard]] std::string file() const { return (folder_ / "policy.safetensors").string(); }
  [[nodiscard]] std::unique_ptr<DecisionModel> model() const {
    return std::make_unique<DecisionModel>(DecisionModelOptions{file(), "", {}});
  }
  json ask(const json& request) { return json::parse(service_->answer(request.dump())); }
  DecisionService& service() { return *service_; }
  [[nodiscard]] const TrainConfig& config() const { return config_; }

 private:
  TrainConfig config_;
  testing::TempDir folder_;
  std::unique_ptr<DecisionService> service_;
};

json arrival(const std::string& id, double time, double limit = 10) {
  return {{"type", "arrive"}, {"id", id}, {"time", time}, {"model", "alexnet"}, {"limit", limit}};
}

// The servers that jobs hold of an episode, for whoever is asked about its state.
json running_in(const env::Cluster& cluster) {
  json out = json::array();
  for (const env::MountedJob& job : cluster.running()) {
    json servers = json::array();
    for (int s = 0; s < cluster.memo().topology().num_servers(); ++s) {
      if (job.execution->servers.contains(static_cast<env::Server>(s))) servers.push_back(s);
    }
    out.push_back({{"id", "job-" + std::to_string(job.job.index)},
                   {"servers", servers},
                   {"until", job.started + job.completion_time}});
  }
  return out;
}

TEST_CASE("a service decides as the policy does in the simulator", "[unit][decide]") {
  const bool is_paper = GENERATE(false, true);
  const int recent_arrivals = is_paper ? 0 : GENERATE(0, 6);
  TrainConfig config = testing::cluster_config();
  testing::partitioning_of(config).recent_arrivals = recent_arrivals;
  if (is_paper) {
    testing::partitioning_of(config).observation = env::ObservationKind::kPaper;
    config.network.head = model::HeadKind::kDense;
  }
  Served served(config);
  const Model model = load_model(served.file());
  auto policy = WatchedPolicy::of_model(model.task, model.run, "policy");
  const auto environment = model.task->make_factory()();
  auto* ramp = dynamic_cast<env::RampEnvironment*>(environment.get());
  REQUIRE(ramp != nullptr);
  environment->reset(Seed{0});
  std::set<int> actions;
  for (int decision = 0; decision < 40; ++decision) {
    const env::Cluster& cluster = ramp->cluster();
    const Opinion opinion = policy.ask(*environment);
    const auto forecast = ramp->forecast(opinion.action);
    const json answer = served.ask(
        {{"type", "ask"},
         {"id", "new"},
         {"time", cluster.now()},
         {"model",
          model.task->spec().graph_names[static_cast<std::size_t>(cluster.queued()->model)]},
         {"limit", cluster.queued()->fraction},
         {"running", running_in(cluster)}});
    INFO(answer.dump());
    REQUIRE(answer["type"] == "decision");
    REQUIRE(answer["action"] == opinion.action);
    REQUIRE(answer["meaning"] == environment->describe(opinion.action));
    REQUIRE(answer["accepted"] == (forecast.cause == env::BlockCause::kNone));
    if (forecast.execution) {
      REQUIRE(answer["completion_time"] == forecast.completion_time);
    }
    for (const json& candidate : answer["candidates"]) {
      const auto a = candidate["action"].get<std::size_t>();
      REQUIRE(candidate["probability"].get<double>() ==
              Approx(opinion.probabilities[a]).margin(1e-4));
    }
    actions.insert(opinion.action);
    // To ask is not to arrive; what came of it was told with the question.
    if (recent_arrivals > 0) {
      served.ask({{"type", "arrive"},
                  {"id", "told"},
                  {"time", cluster.now()},
                  {"model", "alexnet"},
                  {"limit", cluster.queued()->fraction}});
      served.ask({{"type", "finish"}, {"id", "told"}});
    }
    if (environment->step(opinion.action).final()) break;
  }
  REQUIRE(actions.size() > 1);  // it was about something
}

TEST_CASE("servers are a job's from its arrival until it finishes", "[unit][decide]") {
  Served served;
  std::set<int> held;
  std::vector<std::string> accepted;
  for (int n = 0; n < 12; ++n) {
    const std::string id = "job-" + std::to_string(n);
    const json answer = served.ask(arrival(id, n));
    REQUIRE(answer["type"] == "decision");
    if (!answer["accepted"]) continue;
    accepted.push_back(id);
    for (const json& server : answer["servers"]) REQUIRE(held.insert(server.get<int>()).second);
    REQUIRE(answer["until"] == n + answer["completion_time"].get<double>());
  }
  REQUIRE(accepted.size() >= 2);
  json about = served.ask({{"type", "describe"}});
  REQUIRE(about["running"] == accepted.size());
  REQUIRE(about["free"] == 8 - held.size());
  for (const auto& id : accepted) {
    REQUIRE(served.ask({{"type", "finish"}, {"id", id}, {"time", 100}})["type"] == "finished");
  }
  about = served.ask({{"type", "describe"}});
  REQUIRE(about["running"] == 0);
  REQUIRE(about["free"] == 8);
}

TEST_CASE("what is only asked changes nothing", "[unit][decide]") {
  Served served;
  json question = arrival("a", 5);
  question["type"] = "ask";
  question["running"] = json::array({{{"id", "b"}, {"servers", {0, 1, 2}}, {"until", 9}}});
  const json first = served.ask(question);
  REQUIRE(first["type"] == "decision");
  REQUIRE(served.ask(question) == first);
  REQUIRE(served.service().ledger().jobs().empty());
  REQUIRE(served.service().ledger().now() == 0);
}

TEST_CASE("a request that is refused changes nothing", "[unit][decide]") {
  Served served;
  REQUIRE(served.ask({{"type", "cluster"},
                      {"time", 10},
                      {"running", {{{"id", "a"}, {"servers", {0}}, {"until", 20}}}}})["free"] == 7);
  json late = arrival("b", 9);
  json unknown = arrival("b", 11);
  unknown["model"] = "alexnett";
  json steps = arrival("b", 11);
  steps["steps"] = 7;
  json outside = arrival("b", 11);
  outside["running"] = {{{"id", "c"}, {"servers", {8}}, {"until", 20}}};
  json twice = arrival("b", 11);
  twice["running"] = {{{"id", "c"}, {"servers", {1}}, {"until", 20}},
                      {{"id", "d"}, {"servers", {1}}, {"until", 20}}};
  const std::vector<std::pair<json, std::string>> refused = {
      {late, "time: must not go back, from 10.0 to 9.0"},
      {unknown, "did you mean 'alexnet'?"},
      {steps, "steps: the policy decides about jobs of 50 training steps"},
      {outside, "there is no server 8; the last one is 7"},
      {twice, "server 1 is named twice"},
      {arrival("a", 11), "a job called a runs already"},
      {{{"type", "finish"}, {"id", "z"}, {"time", 12}}, "no job called z runs"}};
  for (const auto& [request, sentence] : refused) {
    const json answer = served.ask(request);
    CHECK(answer["type"] == "error");
    CHECK_THAT(answer["error"].get<std::string>(), Catch::Contains(sentence));
    CHECK(answer["id"] == request["id"]);
  }
  // So is a request that cannot even be read as one.
  json no_number = arrival("b", 11);
  no_number["limit"] = "much";
  json no_key = arrival("b", 11);
  no_key["colour"] = "red";
  for (const json& request : {no_number, no_key, json{{"type", "arrive"}, {"id", "b"}}}) {
    const json answer = served.ask(request);
    CHECK(answer["type"] == "error");
    CHECK(answer["id"] == "b");
  }
  CHECK_FALSE(served.ask({{"type", "arrive"}, {"id", 7}}).contains("id"));
  // Who says what runs may ask about any time.
  json elsewhere = arrival("b", 9);
  elsewhere["type"] = "ask";
  elsewhere["running"] = {{{"id", "c"}, {"servers", {1}}, {"until", 20}}};
  CHECK(served.ask(elsewhere)["type"] == "decision");
  elsewhere.erase("running");
  CHECK(served.ask(elsewhere)["type"] == "error");
  const json about = served.ask({{"type", "describe"}});
  CHECK(about["time"] == 10);
  CHECK(about["running"] == 1);
  CHECK(about["free"] == 7);
}

TEST_CASE("who says what runs puts a clock right that went ahead", "[unit][decide]") {
  Served served;
  const json running = {{{"id", "a"}, {"servers", {0}}, {"until", 20}}};
  REQUIRE(served.ask(
              {{"type", "cluster"}, {"time", 999'999'999'999}, {"running", running}})["free"] == 7);
  REQUIRE(served.ask(arrival("b", 11))["type"] == "error");
  const json mended = served.ask({{"type", "cluster"}, {"time", 10}, {"running", running}});
  REQUIRE(mended["type"] == "cluster");
  REQUIRE(mended["time"] == 10);
  REQUIRE(mended["free"] == 7);
  REQUIRE(served.ask(arrival("b", 11))["type"] == "decision");
  // Who is refused has put nothing back.
  json twice = running;
  twice.push_back(running.front());
  REQUIRE(served.ask({{"type", "cluster"}, {"time", 1}, {"running", twice}})["type"] == "error");
  REQUIRE(served.ask({{"type", "describe"}})["time"] == 11);
}

TEST_CASE("a job that should have ended holds its servers until it has", "[unit][decide]") {
  Served served;
  json full = json::array();
  for (int s = 0; s < 8; ++s) {
    full.push_back({{"id", std::to_string(s)}, {"servers", {s}}, {"until", 1}});
  }
  json question = arrival("a", 50);
  question["running"] = full;
  const json answer = served.ask(question);
  REQUIRE(answer["type"] == "decision");
  REQUIRE_FALSE(answer["accepted"]);
}

TEST_CASE("a model that is taken over decides, and what runs goes on", "[unit][decide]") {
  Served served;
  const json before = served.ask(arrival("a", 1));
  REQUIRE(before["policy"] == 5);
  testing::write_random_policy(served.file(), served.config(), 6);
  served.service().take_over(served.model());
  const json after = served.ask(arrival("b", 2));
  REQUIRE(after["policy"] == 6);
  REQUIRE(served.service().ledger().jobs().size() ==
          std::size_t{before["accepted"].get<bool>()} + std::size_t{after["accepted"].get<bool>()});
}

TEST_CASE("a limit that says as good as none is shown as the widest there is", "[unit][decide]") {
  TrainConfig config = testing::cluster_config();
  if (GENERATE(false, true)) {
    testing::partitioning_of(config).recent_arrivals = 6;
  } else {
    testing::partitioning_of(config).observation = env::ObservationKind::kPaper;
    config.network.head = model::HeadKind::kDense;
  }
  Served wide(config);
  Served wider(config);
  const json first = wide.ask(arrival("a", 1, 1));
  json same = wider.ask(arrival("a", 1, 1e9));
  REQUIRE(same["limit_time"] > first["limit_time"]);
  same["limit_time"] = first["limit_time"];
  REQUIRE(first["accepted"] == true);
  CHECK(same == first);
  CHECK(wider.ask(arrival("b", 2, 0.5)) == wide.ask(arrival("b", 2, 0.5)));
}

TEST_CASE("a model of another cluster is not taken over", "[unit][decide]") {
  Served served;
  TrainConfig other = testing::cluster_config();
  testing::partitioning_of(other).ramp.topology = {4, 2, 2};
  const Served larger(other);
  REQUIRE_THROWS_AS(served.service().take_over(larger.model()), UserError);
  REQUIRE(served.ask(arrival("a", 1))["type"] == "decision");
}

TEST_CASE("a policy of another task is refused by the task's name", "[unit][decide]") {
  const testing::TempDir folder;
  for (const auto& [name, graph] :
       std::map<std::string, std::string>{{"device_placement", "groups"},
                                          {"job_scheduling", "servers"},
                                          {"job_placing", "servers"}}) {
    INFO(name);
    const TrainConfig config = testing::config_of_task(name, graph);
    const std::string file = (folder / (name + ".safetensors")).string();
    testing::write_random_policy(file, config, 1);
    CHECK_THROWS_WITH(DecisionModel({file, "", {}}),
                      file + " is a policy of " + name +
                          ", and only those about jobs on the RAMP cluster can be asked");
  }
}

TEST_CASE("a search tells what came of the actions that it tried", "[unit][decide]") {
  const Served served;
  DecisionService service(
      std::make_unique<DecisionModel>(DecisionModelOptions{served.file(), "", "K=2,H=2,gap=50"}));
  const json answer = json::parse(service.answer(arrival("a", 1).dump()));
  REQUIRE(answer["type"] == "decision");
  REQUIRE(answer["candidates"].size() > 1);
  double best = answer["candidates"][0]["value"];
  for (const json& candidate : answer["candidates"]) {
    best = std::max(best, candidate["value"].get<double>());
  }
  for (const json& candidate : answer["candidates"]) {
    if (candidate["action"] == answer["action"]) REQUIRE(candidate["value"] == best);
  }
}

TEST_CASE("a search decides by what it is shown, however often it is asked", "[unit][decide]") {
  const Served served;
  DecisionService service(
      std::make_unique<DecisionModel>(DecisionModelOptions{served.file(), "", "K=2,H=2,gap=50"}));
  static_cast<void>(service.answer(arrival("other", 1).dump()));
  json question = arrival("a", 2);
  const json arriving = question;
  question["type"] = "ask";
  const json asked = json::parse(service.answer(question.dump()));
  REQUIRE(asked["type"] == "decision");
  REQUIRE(asked["candidates"].size() > 1);
  CHECK(json::parse(service.answer(question.dump())) == asked);
  CHECK(json::parse(service.answer(arriving.dump())) == asked);
}

TEST_CASE("a search does not go by when the clock began that arrivals are told by",
          "[unit][decide]") {
  TrainConfig config = testing::cluster_config();
  testing::partitioning_of(config).recent_arrivals = 100;
  const Served served(config);
  const auto answer_at = [&served](double begin) {
    DecisionService service(
        std::make_unique<DecisionModel>(DecisionModelOptions{served.file(), "", "K=8,H=6,gap=50"}));
    // What still runs would be seen for a rounding longer or shorter.
    for (int i = 0; i < 3; ++i) {
      const std::string id = "job-" + std::to_string(i);
      const double time = begin + 1024.0 * i;
      static_cast<void>(service.answer(arrival(id, time).dump()));
      const json finish = {{"type", "finish"}, {"id", id}, {"time", time}};
      static_cast<void>(service.answer(finish.dump()));
    }
    return json::parse(service.answer(arrival("last", begin + 4096).dump()));
  };
  const json answer = answer_at(0);
  REQUIRE(answer["type"] == "decision");
  REQUIRE(answer["candidates"].size() > 1);
  json later = answer_at(1 << 20);
  CHECK(later["candidates"] == answer["candidates"]);
  CHECK(later["action"] == answer["action"]);
}

TEST_CASE("the benchmark plays the workload and measures every arrival", "[unit][decide]") {
  Served served;
  const DecideFigures figures = measure_decisions(served.service(), 200);
  REQUIRE(figures.arrivals == 200);
  REQUIRE(figures.accepted_share > 0);
  REQUIRE(figures.decisions_per_second > 0);
  REQUIRE(figures.p50_seconds <= figures.p99_seconds);
  REQUIRE(figures.p99_seconds <= figures.most_seconds);
}

TEST_CASE("a policy of clusters of any size decides for one of another size", "[unit][decide]") {
  const testing::TempDir folder;
  const std::string file = folder / "p.safetensors";
  const std::vector<std::string> larger = {"env.ramp.topology=[4,4,4]"};
  const auto load = [&](env::ObservationKind observation, const std::vector<std::string>& changes,
                        const std::vector<std::array<int, 3>>& further = {}) {
    TrainConfig config = testing::cluster_config();
    testing::partitioning_of(config).observation = observation;
    testing::partitioning_of(config).further_topologies = further;
    testing::partitioning_of(config).cluster.max_simulation_time = 1e6;
    testing::partitioning_of(config).ramp.topology = {4, 4, 2};
    testing::write_random_policy(file, config, 3);
    return std::make_unique<DecisionModel>(DecisionModelOptions{file, "", {}, changes});
  };
  DecisionService service(load(env::ObservationKind::kAnyCluster, larger));
  const json about = json::parse(service.answer(R"({"type": "describe"})"));
  CHECK(about["servers"] == 64);
  CHECK(about["topology"] == json({4, 4, 4}));
  for (int job = 0; job < 6; ++job) {
    const json answer =
        json::parse(service.answer(arrival("job-" + std::to_string(job), job).dump()));
    INFO(answer.dump());
    CHECK(answer["type"] == "decision");
  }
  CHECK_THROWS_WITH(load(env::ObservationKind::kCluster, larger),
                    file +
                        " was trained on the servers of topology 4x4x2, which its decisions show "
                        "one by one, and is not for those of topology 4x4x4");
  CHECK_THROWS_WITH(load(env::ObservationKind::kAnyCluster, {"env.ramp.topologie=[4,4,4]"}),
                    Catch::Contains("did you mean 'topology'"));
  CHECK_THROWS_WITH(load(env::ObservationKind::kAnyCluster, {"algorithm=expert_iteration"}),
                    "--set algorithm=expert_iteration: settings of the task alone, env. and so on, "
                    "may differ from the training's");

  // One that was trained on several decides about the first, or about any of them.
  const auto servers_of = [](std::unique_ptr<DecisionModel> model) {
    DecisionService asked(std::move(model));
    return json::parse(asked.answer(R"({"type": "describe"})"))["servers"];
  };
  const auto kind = env::ObservationKind::kAnyCluster;
  const std::vector<std::array<int, 3>> further = {{4, 4, 4}, {2, 2, 2}};
  CHECK(servers_of(load(kind, {}, further)) == 32);
  CHECK(servers_of(load(kind, larger, further)) == 64);
  CHECK(servers_of(load(kind, {"env.ramp.topology=[16,8,8]"}, further)) == 1024);
}

TEST_CASE("an exported policy is the run's", "[unit][decide]") {
  const testing::TempDir folder;
  const TrainConfig config = testing::cluster_config();
  testing::write_random_run(folder / "run", config, 3);
  testing::write_random_policy(folder / "p.safetensors", config, 3);
  const Model run = load_model(folder / "run");
  const Model file = load_model(folder / "p.safetensors");
  REQUIRE(file.run.parameters == run.run.parameters);
  REQUIRE(file.run.heads == run.run.heads);
  REQUIRE(file.run.discount == run.run.discount);
  REQUIRE(file.run.valued);
}

}  // namespace
}  // namespace pacml::apps
