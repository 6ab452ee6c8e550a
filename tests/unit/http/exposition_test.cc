#include "apps/http/exposition.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/exposition_parser.h"
#include "tests/support/source_path.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using testing::Metric;

std::map<std::string, Metric> metrics_of(const json& status, const ProcessState& process = {},
                                         const HttpCounters& http = {}) {
  const std::string text = exposition(status, process, http);
  testing::ExpositionParser parser;
  const auto metrics = parser.parse(text);
  INFO(parser.error);
  INFO(text);
  REQUIRE(metrics);
  return *metrics;
}

double value_of(const std::map<std::string, Metric>& metrics, const std::string& name) {
  INFO(name);
  REQUIRE(metrics.contains(name));
  REQUIRE(metrics.at(name).samples.size() == 1);
  return metrics.at(name).samples.begin()->second.value;
}

const json kLearner = {{"role", "learner"},
                       {"run", "a \"run\"\nwith \\ all"},
                       {"updates", 12},
                       {"decisions", 9007199254740993},
                       {"messages", 0},
                       {"policy_lag", {{"p50", 1}, {"p99", 3.5}, {"max", 4}}},
                       {"loss", nullptr},
                       {"faults", {{"checkpoint_failures", 2}, {"checkpoint_age_seconds", 0.25}}},
                       {"limiter", "the learner waits"}};

TEST_CASE("a learner's figures are counters and gauges with its role", "[unit][http]") {
  const auto metrics = metrics_of(kLearner);
  CHECK(value_of(metrics, "pacml_updates_total") == 12);
  CHECK(value_of(metrics, "pacml_messages_total") == 0);
  CHECK(value_of(metrics, "pacml_policy_lag_p99") == 3.5);
  CHECK(value_of(metrics, "pacml_checkpoint_failures_total") == 2);
  CHECK(value_of(metrics, "pacml_checkpoint_age_seconds") == 0.25);
  CHECK(metrics.at("pacml_updates_total").type == "counter");
  CHECK(metrics.at("pacml_policy_lag_p99").type == "gauge");
  for (const auto& [name, metric] : metrics) {
    for (const auto& [text, sample] : metric.samples) {
      CHECK(sample.labels == std::map<std::string, std::string>{{"role", "learner"}});
    }
  }
}

TEST_CASE("great counters lose no more than a double must", "[unit][http]") {
  CHECK(value_of(metrics_of(kLearner), "pacml_decisions_total") == 9007199254740992.0);
}

TEST_CASE("what a status does not tell is not made up", "[unit][http]") {
  const auto metrics = metrics_of(kLearner);
  CHECK_FALSE(metrics.contains("pacml_loss"));  // null
  CHECK_FALSE(metrics.contains("pacml_actors"));
  CHECK_FALSE(metrics.contains("pacml_replay_fill_ratio"));
  const auto odd = metrics_of({{"role", 3},
                               {"shard", "x"},
                               {"updates", "12"},
                               {"actors", true},
                               {"policy_lag", 3},
                               {"faults", json::array()},
                               {"decisions", json::object()}});
  for (const char* name : {"pacml_updates_total", "pacml_actors", "pacml_policy_lag_p50",
                           "pacml_checkpoint_failures_total", "pacml_decisions_total"}) {
    CHECK_FALSE(odd.contains(name));
  }
  CHECK(odd.at("pacml_healthy").samples.begin()->second.labels.empty());
}

TEST_CASE("a shard's figures carry its number, and how full it is", "[unit][http]") {
  const auto metrics = metrics_of({{"role", "replay"},
                                   {"shard", 3},
                                   {"items", 250},
                                   {"capacity", 1000},
                                   {"inserted", 400},
                                   {"sampled", 800},
                                   {"inserts_waiting", 2},
                                   {"total_priority", 12.5}});
  CHECK(value_of(metrics, "pacml_replay_items") == 250);
  CHECK(value_of(metrics, "pacml_replay_fill_ratio") == 0.25);
  CHECK(value_of(metrics, "pacml_replay_inserts_total") == 400);
  CHECK(value_of(metrics, "pacml_replay_samples_total") == 800);
  CHECK(value_of(metrics, "pacml_replay_inserts_waiting") == 2);
  const auto& sample = metrics.at("pacml_replay_items").samples.begin()->second;
  CHECK(sample.labels == std::map<std::string, std::string>{{"role", "replay"}, {"shard", "3"}});
  CHECK_FALSE(metrics_of({{"items", 1}, {"capacity", 0}}).contains("pacml_replay_fill_ratio"));
}

TEST_CASE("the process and its HTTP server are told of, too", "[unit][http]") {
  const auto metrics = metrics_of(json::object(), {false, true, 123456789}, {10, 3, 2, 1});
  CHECK(value_of(metrics, "pacml_healthy") == 0);
  CHECK(value_of(metrics, "pacml_ready") == 1);
  CHECK(value_of(metrics, "pacml_resident_memory_bytes") == 123456789);
  CHECK(value_of(metrics, "pacml_http_requests_total") == 10);
  CHECK(value_of(metrics, "pacml_http_unauthorized_total") == 3);
  CHECK(value_of(metrics, "pacml_http_malformed_total") == 2);
  CHECK(value_of(metrics, "pacml_http_connections_cut_total") == 1);
}

// A status with every figure that there is a metric for.
json everything() {
  json status = {{"role", "learner"}, {"shard", 0}};
  for (const char* key : {"decisions",
                          "policy_version",
                          "actors",
                          "messages",
                          "duplicates",
                          "gaps",
                          "malformed",
                          "no_room",
                          "refused",
                          "denied",
                          "updates",
                          "samples",
                          "stale",
                          "unfinished",
                          "misfits",
                          "skipped",
                          "episodes",
                          "seconds",
                          "queue_depth",
                          "window",
                          "in_flight",
                          "disk_free_bytes",
                          "actors_enough",
                          "loss",
                          "entropy",
                          "return",
                          "weights_sent",
                          "items",
                          "capacity",
                          "bytes",
                          "total_priority",
                          "inserted",
                          "sampled",
                          "evicted",
                          "used_up",
                          "inserts_refused",
                          "updates_applied",
                          "updates_for_evicted_items",
                          "updates_refused",
                          "inserts_waiting",
                          "samples_waiting",
                          "learners",
                          "episodes_dropped",
                          "unanswered",
                          "snapshots",
                          "snapshot_failures",
                          "snapshot_age_seconds",
                          "joins",
                          "shard_joins",
                          "unacknowledged",
                          "refused_weights"}) {
    status[key] = 1;
  }
  status["policy_lag"] = {{"p50", 1}, {"p99", 1}, {"max", 1}};
  status["episode"] = {{"cost", 1}};
  status["evaluation"] = {
      {"score", 1}, {"best", 1}, {"baseline", {{"score", 1}}}, {"metrics", {{"cost", 1}}}};
  status["faults"] = {{"checkpoint_failures", 1},
                      {"checkpoint_age_seconds", 1},
                      {"checkpoint_interval_seconds", 1},
                      {"metrics_failures", 1}};
  status["replicas"] = {{"together", 1}, {"groups", 1}, {"divergences", 1}};
  status["replay"] = {{"shards", 1}, {"redrawn", 1}, {"episodes_lost", 1}, {"updates_lost", 1}};
  return status;
}

TEST_CASE("names follow Prometheus' rules", "[unit][http]") {
  for (const auto& [name, metric] : metrics_of(everything())) {
    INFO(name);
    CHECK(name.starts_with("pacml_"));
    CHECK(name.ends_with("_total") == (metric.type == "counter"));
    CHECK_THAT(metric.help, Catch::EndsWith("."));
  }
}

TEST_CASE("the table of docs/monitoring.md has the metrics that there are, and no other",
          "[unit][http]") {
  std::ifstream page(testing::source_path("docs/monitoring.md"));
  REQUIRE(page);
  std::set<std::string> documented;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `pacml_")) {
      documented.insert(line.substr(3, line.find('`', 3) - 3));
    }
  }
  std::set<std::string> exposed;
  for (const auto& [name, metric] : metrics_of(everything())) exposed.insert(name);
  CHECK(documented == exposed);
}

// Names of metrics in a file of those who watch.
std::set<std::string> names_in(const std::string& file) {
  std::ifstream in(testing::source_path("deploy/" + file));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<std::string> names;
  const std::regex name("pacml_[a-z0-9_]+");
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
    names.insert(it->str());
  }
  return names;
}

TEST_CASE("every metric that Grafana's dashboard and the alert rules name is exposed",
          "[unit][http]") {
  const auto exposed = metrics_of(everything());
  for (const char* file : {"grafana/dashboard.json", "prometheus/alerts.yaml"}) {
    const auto names = names_in(file);
    INFO(file);
    CHECK(names.size() > 10);
    for (const std::string& name : names) {
      INFO(name);
      CHECK(exposed.contains(name));
    }
  }
}

}  // namespace
}  // namespace pacml::apps
