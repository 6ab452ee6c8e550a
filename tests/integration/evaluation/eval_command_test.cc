// `pacml eval`: a trained policy beside baselines.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

using nlohmann::json;
using testing::Outcome;
using testing::pacml;
using testing::text_of;
using testing::Workplace;

using Words = std::vector<std::string>;

json evaluate(const Workplace& place, const Words& options) {
  const std::string file = (place / "result.json").string();
  Words words = {"eval", place.config_file(), "--out", file};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = pacml(words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.err.empty());
  const json result = json::parse(text_of(file));
  for (const auto& policy : result["policies"]) {
    CHECK_THAT(outcome.out, Catch::Contains(policy["name"].get<std::string>()));
  }
  return result;
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST_CASE("a trained policy is compared with baselines on the same arrivals",
          "[integration][evaluation]") {
  const Workplace place;
  const Outcome trained = pacml({"train", place.config_file(), "--run", place.run(),
                                 "--deterministic", "--decisions", "800"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const json result = evaluate(
      place, {"--policy", place.run() + ",para_max", "--policy", "constant:2", "--seeds", "3"});
  REQUIRE(keys_of(result) == std::set<std::string>{"objective", "policies", "origin"});
  CHECK(result["origin"]["config"] == place.config_file());
  CHECK(result["objective"] == "blocking_rate");
  const auto& policies = result["policies"];
  REQUIRE(policies.size() == 3);
  CHECK(policies[0]["name"] == place.run());
  CHECK(policies[1]["name"] == "para_max");
  CHECK(policies[2]["name"] == "constant:2");
  for (const auto& policy : policies) {
    for (const char* key : {"name", "seeds", "blocking_rate", "mean_jct", "arrived"}) {
      CHECK(policy.contains(key));
    }
    CHECK(keys_of(policy["blocking_rate"]) == std::set<std::string>{"mean", "ci95"});
    REQUIRE(policy["seeds"].size() == 3);
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& seed = policy["seeds"][i];
      CHECK(seed["seed"] == policies[0]["seeds"][i]["seed"]);
      CHECK(seed["arrived"] == policies[0]["seeds"][i]["arrived"]);
      double by_cause = 0;
      for (const auto& [key, value] : seed.items()) {
        if (key.starts_with("blocked_by_")) by_cause += value.get<double>();
      }
      CHECK(by_cause == Approx(seed["blocking_rate"].get<double>()));
      sum += seed["blocking_rate"].get<double>();
    }
    CHECK(policy["blocking_rate"]["mean"].get<double>() == Approx(sum / 3));
  }
}

TEST_CASE("a task tells what its baselines do", "[integration][evaluation]") {
  const Workplace place;
  const Outcome listed = pacml({"eval", place.config_file(), "--list"});
  CHECK(listed.code == 0);
  CHECK_THAT(listed.out, Catch::Contains("para_max       ") && Catch::Contains("min_feasible   ") &&
                             Catch::Contains("the smallest degree whose own lookahead") &&
                             Catch::Contains("rollout:RULE   ") &&
                             Catch::Contains("one of these that looks ahead, as RULE+search does"));
  const Outcome both = pacml({"eval", place.config_file(), "--list", "--policy", "random"});
  CHECK(both.code == 2);
  CHECK_THAT(both.err, Catch::Contains("--list: evaluates nothing"));
}

TEST_CASE("a decision is explained, and runs are listed", "[integration][evaluation]") {
  const Workplace place;
  const Outcome trained = pacml({"train", place.config_file(), "--run", place.run(),
                                 "--deterministic", "--decisions", "800", "--tag", "mine"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);

  const Outcome listed =
      pacml({"runs", (place / ".").string(), "--out", (place / "runs.json").string()});
  INFO(listed.err);
  REQUIRE(listed.code == 0);
  CHECK_THAT(listed.out, Catch::Contains("partitioning") && Catch::Contains("blocking_rate") &&
                             Catch::Contains("ended"));
  const json runs = json::parse(text_of(place / "runs.json"))["runs"];
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]["decisions"] == 800);
  CHECK(runs[0]["settings"]["actor.environments"] == "8");
  CHECK(runs[0]["tags"] == json::array({"mine"}));
  CHECK(pacml({"runs", (place / ".").string(), "--tag", "mine"}).code == 0);
  CHECK_THAT(pacml({"runs", (place / ".").string(), "--tag", "mine", "--tag", "other"}).err,
             Catch::Contains("with the tag mine and other"));
  CHECK(pacml({"runs", (place / "none").string()}).code == 2);
  // Folders may be called anything.
  std::filesystem::copy(place.run(), place / "odd\xff", std::filesystem::copy_options::recursive);
  const Outcome both =
      pacml({"runs", (place / ".").string(), "--out", (place / "both.json").string()});
  CHECK(both.code == 0);
  CHECK(json::parse(text_of(place / "both.json"))["runs"].size() == 2);

  const Outcome text = pacml({"explain", place.run(), "--decision", "3"});
  INFO(text.err);
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Catch::StartsWith("decision 3 of run\n") && Catch::Contains("probability") &&
                           Catch::Contains("would choose"));
  const Outcome as_json = pacml({"explain", place.run(), "--seed", "1", "--decision", "3",
                                 "--baseline", "para_max", "--json"});
  REQUIRE(as_json.code == 0);
  const json explanation = json::parse(as_json.out);
  CHECK(explanation["baseline"]["name"] == "para_max");
  double all = 0;
  for (const auto& candidate : explanation["view"]["candidates"]) {
    all += candidate["probability"].get<double>();
  }
  CHECK(all == Approx(1));
  CHECK(explanation["view"].contains("value"));
  const auto trace = (place / "trace.json").string();
  const Outcome traced =
      pacml({"explain", place.run(), "--decision", "0", "--chrome-trace", trace});
  REQUIRE(traced.code == 0);
  CHECK_THAT(traced.err, Catch::EndsWith("wrote " + trace + "\n"));
  CHECK(json::parse(text_of(trace))["traceEvents"].size() > 10);
  const auto episode = (place / "episode.json").string();
  const Outcome written = pacml({"explain", place.run(), "--seed", "1", "--episode", episode});
  REQUIRE(written.code == 0);
  CHECK_THAT(written.err, Catch::EndsWith("wrote " + episode + "\n"));
  const json played = json::parse(text_of(place / "episode.json"));
  REQUIRE(played["decisions"].size() > 3);
  CHECK(played["decisions"][3]["candidates"] == explanation["view"]["candidates"]);
  CHECK(played["decisions"][3].contains("outcome"));
  // The same jobs, decided by a baseline.
  REQUIRE(
      pacml({"explain", place.run(), "--seed", "1", "--episode", episode, "--policy", "constant:1"})
          .code == 0);
  const json by_rule = json::parse(text_of(place / "episode.json"));
  CHECK(by_rule["policy"] == "constant:1");
  CHECK(by_rule["decisions"][0]["facts"] == played["decisions"][0]["facts"]);
  for (const auto& decision : by_rule["decisions"]) CHECK(decision["chosen"] <= 1);
  for (const Words& wrong : std::vector<Words>{{"--decision", "100000"},
                                               {"--baseline", "nobody"},
                                               {"--policy", "constant:1"},
                                               {"--policy", "nobody", "--episode", episode},
                                               {"--episode", (place / "no/such.json").string()}}) {
    Words words = {"explain", place.run()};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Outcome refused = pacml(words);
    CHECK(refused.code == 2);
    CHECK(std::ranges::count(refused.err, '\n') == 1);
  }
}

TEST_CASE("two policies are compared decision by decision, and two runs setting by setting",
          "[integration][evaluation]") {
  const Workplace place;
  const std::string other = (place / "other").string();
  for (const Words& run : {Words{place.run()}, Words{other, "--set", "impala.discount=0.5"}}) {
    Words words = {"train", place.config_file(), "--deterministic", "--decisions", "400", "--run"};
    words.insert(words.end(), run.begin(), run.end());
    const Outcome trained = pacml(words);
    INFO(trained.err);
    REQUIRE(trained.code == 0);
  }
  const auto file = (place / "differences.json").string();
  const Outcome compared =
      pacml({"compare", place.run(), "constant:2", "--seeds", "3", "--out", file});
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  CHECK(compared.err.empty());
  CHECK_THAT(compared.out, Catch::StartsWith(place.run() + " and constant:2 differ in "));
  const json found = json::parse(text_of(file));
  CHECK(found["decisions"].get<int>() > 30);
  std::int64_t differing = 0;
  for (const json& group : found["groups"]) differing += group["decisions"].get<std::int64_t>();
  CHECK(differing == found["differing"]);

  const Outcome settings = pacml({"compare", place.run(), other, "--settings", "--out", file});
  REQUIRE(settings.code == 0);
  CHECK(json::parse(text_of(file))["settings"] ==
        json::array({{{"setting", "impala.discount"}, {"first", "0.997"}, {"second", "0.5"}}}));
  CHECK(pacml({"compare", place.run(), other, "--seeds", "1"}).code == 0);
  CHECK(pacml({"compare", "constant:2", "para_max", "--config", place.config_file()}).code == 0);
  for (const Words& wrong :
       std::vector<Words>{{"constant:2", "para_max"},
                          {place.run(), "nobody"},
                          {place.run(), "para_max", "--settings"},
                          {place.run(), other, "--settings", "--set", "seed=2"},
                          {place.run(), "para_max", "--horizon", "0"}}) {
    Words words = {"compare"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Outcome refused = pacml(words);
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(std::ranges::count(refused.err, '\n') == 1);
  }
  // Of another task, it is told before anything else is.
  std::filesystem::create_directories(place / "scheduling");
  std::ofstream(place / "scheduling" / "config.yaml") << "env: {task: job_scheduling}\n";
  const Outcome elsewhere =
      pacml({"compare", place.run(), (place / "scheduling").string(), "--seeds", "1"});
  CHECK(elsewhere.code == 2);
  CHECK(elsewhere.out.empty());
  CHECK_THAT(elsewhere.err, Catch::Contains("is about partitioning and") &&
                                Catch::Contains("about job_scheduling: no decision is both's"));
}

TEST_CASE("two rules are compared with the settings and the job graphs that the command line names",
          "[integration][evaluation]") {
  const Workplace place;
  const std::string file = (place / "differences.json").string();
  const auto compare = [&](const Words& options) {
    Words words = {"compare", "constant:2", "para_max", "--config", place.config_file(),
                   "--seeds", "1",          "--out",    file};
    words.insert(words.end(), options.begin(), options.end());
    return pacml(words);
  };
  const auto decisions = [&](const Words& options) {
    const Outcome outcome = compare(options);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return json::parse(text_of(file))["decisions"].get<int>();
  };
  CHECK(decisions({"--set", "env.cluster.max_simulation_time=4000"}) < decisions({}));

  const std::string models = (place / "models").string();
  const Outcome missing = compare({"--profiles", models});
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, Catch::Contains(models));
  std::filesystem::create_directories(place / "models" / "alexnet");
  std::ofstream(place / "models" / "alexnet" / "graph.txt")
      << "node1 -- A -- forward_compute_time=1.0, backward_compute_time=2.0, "
         "activation_size=1000, parameter_size=500\n";
  CHECK(decisions({"--profiles", models}) > 0);
}

TEST_CASE("the degrees of a configuration's models are told, and of no other task's",
          "[integration][evaluation]") {
  const Workplace place;
  const auto file = (place / "degrees.json").string();
  const Outcome told = pacml({"graphs", "--degrees", place.config_file(), "--out", file});
  INFO(told.err);
  REQUIRE(told.code == 0);
  const json models = json::parse(text_of(file))["models"];
  REQUIRE(models.size() == 1);
  CHECK(models[0]["model"] == "alexnet");
  REQUIRE(models[0]["degrees"].size() == 3);  // 1, 2, 4
  const json& alone = models[0]["degrees"][0];
  CHECK(alone["communication_time"] == 0);
  CHECK(alone["step_time"] == alone["computation_time"]);
  CHECK(models[0]["degrees"][2]["step_time"] < alone["step_time"]);
  CHECK(models[0]["degrees"][2]["servers"].get<int>() > 1);
  CHECK(pacml({"graphs", "--out", file}).code == 2);
  CHECK(pacml({"graphs", "--degrees", place.config_file(), "--set", "env.task=device_placement"})
            .code == 2);
}

TEST_CASE("an evaluation depends on its seeds, not on the cores", "[integration][evaluation]") {
  const Workplace place;
  const auto with = [&](const Words& options) {
    Words words = {"--policy", "random,min_feasible+search:K=2,H=3"};
    words.insert(words.end(), options.begin(), options.end());
    return evaluate(place, words);
  };
  const json four = with({"--seeds", "4", "--threads", "1"});
  REQUIRE(four["policies"].size() == 2);
  CHECK(with({"--seeds", "4", "--threads", "3"}) == four);
  CHECK(with({"--seeds", "4", "--threads", "100"}) == four);
  const json later = with({"--seeds", "2", "--first-seed", "2"});
  for (std::size_t policy = 0; policy < 2; ++policy) {
    const json& all = four["policies"][policy]["seeds"];
    CHECK(later["policies"][policy]["seeds"] == json::array({all[2], all[3]}));
  }
}

TEST_CASE("a search of what has no other future is refused in one sentence",
          "[integration][evaluation]") {
  // The jobs of one recorded list: there is no other list to draw those to come from.
  const Workplace place;
  const std::string list = (place / "jobs.json").string();
  std::string jobs;
  for (int i = 0; i < 12; ++i) {  // enough that one has to choose
    if (!jobs.empty()) jobs += ", ";
    jobs += R"({"submit": )" + std::to_string(i) + R"(, "type": "image_small", "gpus": )" +
            std::to_string(1 << (i % 3)) + R"(, "steps": 100000})";
  }
  std::ofstream(list) << R"({"jobs": [)" << jobs << "]}";
  const std::string config = (place / "lists.yaml").string();
  std::ofstream(config) << "env: {task: cluster_scheduling, job_lists: [" << list << "]}\n"
                        << "network: {head: candidates, encoders: [{slot: servers}]}\n";
  const auto judged = [&](const std::string& policy) {
    return pacml({"eval", config, "--policy", policy, "--seeds", "1"});
  };
  const Outcome rule = judged("fifo_best_fit");
  INFO(rule.err);
  REQUIRE(rule.code == 0);
  for (const char* looking : {"fifo_best_fit+search:K=2,H=3", "rollout:fifo_best_fit"}) {
    INFO(looking);
    const Outcome searched = judged(looking);
    CHECK(searched.code == 2);
    CHECK(searched.err ==
          "pacml: a search needs other futures than the true one, and this episode's jobs leave "
          "none to draw\n");
  }
}

TEST_CASE("every baseline is compared where none is named", "[integration][evaluation]") {
  const Workplace place;
  const json result = evaluate(place, {"--seeds", "1"});
  std::set<std::string> names;
  for (const auto& policy : result["policies"]) names.insert(policy["name"]);
  for (const char* name : {"para_max", "para_min", "random", "min_feasible"}) {
    INFO(name);
    CHECK(names.contains(name));
  }
  CHECK(std::ranges::any_of(names,
                            [](const auto& name) { return name.starts_with("best_constant:"); }));
  CHECK(result["policies"][0]["blocking_rate"]["ci95"].is_null());  // one seed has no interval
}

TEST_CASE("results may go where no plain file is, which stays what it is",
          "[integration][evaluation]") {
  namespace fs = std::filesystem;
  const Workplace place;
  const Words words = {"eval", place.config_file(), "--policy", "para_max", "--seeds", "1",
                       "--out"};
  const auto write_to = [&](const fs::path& out) {
    Words all = words;
    all.push_back(out.string());
    return pacml(all).code;
  };
  const fs::path target = place / "target";
  const fs::path link = place / "link";
  std::ofstream(target) << "before";
  fs::create_symlink(target, link);
  CHECK(write_to(link) == 0);
  CHECK(fs::is_symlink(link));
  CHECK(json::parse(text_of(target))["policies"].size() == 1);

  const fs::path device = place / "full";  // as a device does that takes nothing
  fs::create_symlink("/dev/full", device);
  CHECK(write_to(device) == 2);
  CHECK(fs::is_symlink(device));
}

}  // namespace
}  // namespace pacml
