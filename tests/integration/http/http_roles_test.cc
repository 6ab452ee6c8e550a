// The pages of real processes, as a person, a probe and a scraper see them.

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/exposition_parser.h"
#include "tests/support/http_client.h"
#include "tests/support/roles.h"
#include "tests/support/temp_dir.h"

namespace pacml::testing {
namespace {

using nlohmann::json;

const std::string kToken = "0123456789abcdef0123456789abcdef";

// Where a process says that it serves its pages.
std::string pages_of(const std::string& log) {
  const auto addresses = lines_after(log, "health at http://");
  return addresses.empty() ? std::string() : addresses.back();
}

std::string wait_for_pages(const std::function<std::string()>& log) {
  wait_until("the pages are served", [&] { return !pages_of(log()).empty(); });
  return pages_of(log());
}

void wait_until_ready(const std::string& address) {
  wait_until("the process is ready",
             [&] { return http_get(address, "/readyz").result_int() == 200; });
}

json status_at(const std::string& address, const std::string& headers = {}) {
  const auto answer = http_get(address, "/status", headers);
  REQUIRE(answer.result_int() == 200);
  return json::parse(answer.body());
}

double metric_at(const std::string& address, const std::string& name) {
  const auto answer = http_get(address, "/metrics");
  ExpositionParser parser;
  const auto metrics = parser.parse(answer.body());
  INFO(parser.error);
  REQUIRE(metrics);
  INFO(name);
  REQUIRE(metrics->contains(name));
  return metrics->at(name).samples.begin()->second.value;
}

TEST_CASE("pacml train shows its learner while it trains, and stops in order",
          "[integration][http]") {
  const Workplace place;
  Pacml train(train_words(place, {"--http", "0"}));
  const auto address = wait_for_pages([&] { return place.log("learner"); });
  wait_until_ready(address);
  CHECK(http_get(address, "/healthz").body() == "ok\n");
  wait_until("updates show", [&] {
    return status_at(address).value("updates", 0) > 5 && status_at(address).contains("loss");
  });
  const json status = status_at(address);
  CHECK(status["role"] == "learner");
  CHECK(status["run"] == "run");
  CHECK(status["decisions"] >= status["updates"]);
  CHECK(status["actors"] == 1);
  wait_until("the actor shows", [&] {
    const json now = status_at(address);
    return !now["peers"].empty() && now["peers"][0]["decisions"] > 0;
  });
  CHECK(status_at(address)["peers"][0]["actor"] == 0);
  wait_until("it has leave to act",
             [&] { return status_at(address)["peers"][0].value("acts", false); });
  CHECK(metric_at(address, "pacml_updates_total") > 5);
  CHECK(metric_at(address, "pacml_actors") == 1);
  CHECK(metric_at(address, "pacml_gaps_total") == 0);
  CHECK(metric_at(address, "pacml_resident_memory_bytes") > 1e6);
  CHECK(metric_at(address, "pacml_checkpoint_failures_total") == 0);
  // Longer than a slow disk takes over the files of one.
  CHECK(metric_at(address, "pacml_checkpoint_age_seconds") < 600);

  const auto served = lines_after(place.log("learner"), "serving actors at ");
  const json asked = status_of(place, served.back());
  // What was updated, acted or evaluated within the newest line's time alone comes and goes.
  for (const char* key :
       {"role", "run", "decisions", "updates", "samples", "actors", "peers", "faults"}) {
    INFO(key);
    CHECK(status.contains(key));
    CHECK(asked.contains(key));
  }
  CHECK(asked["run"] == "run");
  CHECK(asked["updates"] >= status["updates"]);
  const auto page = http_get(address, "/");
  CHECK(page["X-Frame-Options"] == "DENY");
  CHECK_THAT(page.body(), Catch::StartsWith("<!doctype html>"));
  wait_until("the dashboard shows the run", [&] {
    const json runs = json::parse(http_get(address, "/dashboard/runs").body());
    return runs[0]["state"] == "training" && runs[0]["newest"].value("updates", 0) > 5 &&
           runs[0]["newest"].contains("limiter") && !runs[0]["newest"]["peers"].empty();
  });
  wait_until("an episode was played",
             [&] { return http_get(address, "/dashboard/episodes/0/0").result_int() == 200; });
  HttpClient open(address);  // no reason to wait
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

TEST_CASE("what is no run is shown as none beside a run", "[integration][http]") {
  const Workplace place;
  const TempDir none;
  REQUIRE(pacml(train_words(place, {"--decisions", "100"})).code == 0);
  Pacml dashboard({"dashboard", none.path().string(), place.run(), "--http", "127.0.0.1:0"});
  wait_until("the page is served", [&] { return dashboard.out().ends_with("/\n"); });
  const std::string url = dashboard.out();
  const std::string address = url.substr(7, url.size() - 9);  // http://ADDRESS/
  const json runs = json::parse(http_get(address, "/dashboard/runs").body());
  CHECK(runs[0]["state"] == "no run");
  CHECK(runs[1]["state"] == "ended");
  CHECK_THAT(dashboard.err(), Catch::Contains("holds no run"));
  dashboard.signal(SIGTERM);
  CHECK(dashboard.end() == 0);
  CHECK(pacml({"dashboard", none.path().string(), "--http", "127.0.0.1:0"}).code == 2);
}

TEST_CASE("shards, actors and learners show their own pages", "[integration][http]") {
  apps::TrainConfig config = tiny_apex_config();
  config.replay.shards = 1;
  config.patience.silence_seconds = 30;  // nobody joins twice since this machine is slow
  const Workplace place(config);
  const std::vector<std::string> pages = {"--http", "127.0.0.1:0"};
  Shard shard(place, 0, "tcp://127.0.0.1:*", pages);
  const auto at_shard = wait_for_pages([&] { return shard.process().err(); });
  wait_until_ready(at_shard);

  auto options = replay_options({shard.address()});
  options.insert(options.end(), pages.begin(), pages.end());
  auto for_actor = options;
  Learner learner(place, "tcp://127.0.0.1:*", options);
  const auto at_learner = wait_for_pages([&] { return place.log("learner"); });
  wait_until_ready(at_learner);

  Pacml actor(actor_words(place, learner.address(), 3, for_actor));
  const auto at_actor = wait_for_pages([&] { return actor.err(); });
  wait_until_ready(at_actor);
  wait_until("decisions show", [&] { return status_at(at_actor).value("decisions", 0) > 500; });
  const json acting = status_at(at_actor);
  CHECK(acting["role"] == "actor");
  CHECK(acting["actor"] == 3);
  CHECK(acting["joins"] == 1);
  CHECK(acting["shard_joins"] == 1);
  CHECK(metric_at(at_actor, "pacml_joins_total") == 1);
  wait_until("items show", [&] { return metric_at(at_shard, "pacml_replay_items") > 0; });
  CHECK(metric_at(at_shard, "pacml_replay_fill_ratio") <= 1);
  wait_until("the learner's shard shows", [&] { return status_at(at_learner).contains("replay"); });
  CHECK(metric_at(at_learner, "pacml_replay_shards") == 1);

  // Its learner gone, an actor lives on, but is not ready; it is told apart from one that is stuck.
  learner.process().signal(SIGKILL);
  wait_until("the actor misses its learner",
             [&] { return http_get(at_actor, "/readyz").result_int() == 503; });
  CHECK(http_get(at_actor, "/healthz").body() == "ok\n");
  CHECK(status_at(at_actor)["joined"] == false);
  actor.signal(SIGTERM);
  CHECK(actor.end() == 0);
  shard.process().signal(SIGTERM);
  CHECK(shard.process().end() == 0);
}

TEST_CASE("with a token, figures are for those who show it, and probes for all",
          "[integration][http]") {
  const Workplace place;
  const std::string file = (place / "token").string();
  std::ofstream(file) << kToken << "\n";
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  Learner learner(place, "tcp://127.0.0.1:*", {"--http", "0.0.0.0:0", "--http-token-file", file});
  const auto port =
      wait_for_pages([&] { return place.log("learner"); }).substr(std::string("0.0.0.0").size());
  const std::string address = "127.0.0.1" + port;
  wait_until_ready(address);
  for (const char* page : {"/status", "/metrics"}) {
    CHECK(http_get(address, page).result_int() == 401);
    CHECK(http_get(address, page, bearer("f" + kToken.substr(1))).result_int() == 401);
    CHECK(http_get(address, page, bearer(kToken)).result_int() == 200);
  }
  CHECK(status_at(address, bearer(kToken))["role"] == "learner");
  CHECK(http_get(address, "/").result_int() == 200);  // it tells nothing
  CHECK(http_get(address, "/dashboard/runs", bearer(kToken)).result_int() == 200);
  CHECK_THAT(http_get(address, "/metrics", bearer(kToken)).body(),
             Catch::Contains("pacml_http_unauthorized_total{role=\"learner\"} 4\n"));
  CHECK_THAT(place.log("learner"), !Catch::Contains(kToken));
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
}

TEST_CASE(
    "pages for other hosts without a token are refused in one sentence, before anything is made",
    "[integration][http]") {
  const Workplace place;
  const std::vector<std::vector<std::string>> commands = {
      train_words(place),
      {"learner", place.config_file(), "--run", place.run()},
      {"actor", place.config_file(), "--learner", "tcp://127.0.0.1:1"}};
  for (auto words : commands) {
    words.insert(words.end(), {"--http", "0.0.0.0:9100"});
    const Outcome outcome = pacml(words);
    CHECK(outcome.code == 2);
    CHECK(outcome.err ==
          "pacml: --http 0.0.0.0:9100: others can reach this address, so it needs "
          "--http-token-file\n");
    CHECK_FALSE(std::filesystem::exists(place.run()));
  }
}

TEST_CASE("a port that is taken is said before a run folder is made", "[integration][http]") {
  const Workplace place;
  const Workplace other;
  Learner first(place, "tcp://127.0.0.1:*", {"--http", "0"});
  const auto address = wait_for_pages([&] { return place.log("learner"); });
  const Outcome outcome = pacml({"learner", other.config_file(), "--run", other.run(), "--bind",
                                 "tcp://127.0.0.1:*", "--http", address});
  CHECK(outcome.code == 75);  // whoever has it may let it go
  CHECK_THAT(outcome.err, Catch::Contains("--http: cannot listen at " + address));
  CHECK_FALSE(std::filesystem::exists(other.run()));
}

}  // namespace
}  // namespace pacml::testing
