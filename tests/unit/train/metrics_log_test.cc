#include "apps/roles/metrics_log.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/log.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Duration kEvery = 10s;
const std::vector<env::MetricSpec> kMetrics = {{"cost", "cost", "1", env::Better::kLower, 2, {}},
                                               {"delay", "delay", "s", env::Better::kLower, 2, {}}};

// A log whose learner and clock do as a test says.
class Log {
 public:
  explicit Log(ServiceFigures figures = {}, const std::optional<std::filesystem::path>& file = {})
      : file_(file.value_or(folder_ / "metrics.jsonl")),
        log_(file_, std::move(figures), kEvery, clock_) {
    set_up_logging({.role = "test", .run_id = {}, .level = "off", .file = {}});
  }
  // The line as the caller has it after write().
  json write(json line = json::object()) {
    log_.write(line, counters, statistics);
    return line;
  }
  [[nodiscard]] std::vector<json> lines() const {
    std::ifstream file(file_);
    std::vector<json> found;
    for (std::string line; std::getline(file, line);) found.push_back(json::parse(line));
    return found;
  }
  [[nodiscard]] MetricsLog& operator*() { return log_; }
  [[nodiscard]] ManualClock& clock() { return clock_; }

  learner::LearnerCounters counters;
  learner::LearnerStatistics statistics;

 private:
  testing::TempDir folder_;
  std::filesystem::path file_;
  ManualClock clock_;
  MetricsLog log_;
};

TEST_CASE("a line is due each so many seconds, counted from the line before", "[unit][train]") {
  Log log;
  (*log).start({}, kMetrics);
  CHECK_FALSE((*log).due());
  log.clock().advance(kEvery - 1ms);
  CHECK_FALSE((*log).due());
  log.clock().advance(1ms);
  CHECK((*log).due());
  log.clock().advance(5s);  // whoever writes it comes late
  log.write();
  CHECK_FALSE((*log).due());
  log.clock().advance(kEvery - 1ms);
  CHECK_FALSE((*log).due());
  log.clock().advance(1ms);
  CHECK((*log).due());
}

TEST_CASE("rates are of what came since the line before, or since the start of a run that goes on",
          "[unit][train]") {
  Log log;
  log.counters = {.updates = 10, .decisions = 4'000, .samples = 8'000};
  (*log).start(log.counters, kMetrics);
  log.counters = {.updates = 14, .decisions = 4'600, .samples = 8'800};
  log.clock().advance(2s);
  const json first = log.write();
  CHECK(first["updates"] == 14);
  CHECK(first["decisions"] == 4'600);
  CHECK(first["samples"] == 8'800);
  CHECK(first["updates_per_second"] == 2);
  CHECK(first["decisions_per_second"] == 300);
  CHECK(first["samples_per_second"] == 400);
  log.clock().advance(5s);
  log.counters.decisions += 10;
  const json second = log.write();
  CHECK(second["decisions_per_second"] == 2);
  CHECK(second["updates_per_second"] == 0);
}

TEST_CASE("two lines in one moment have rates that are numbers", "[unit][train]") {
  Log log;
  (*log).start({}, kMetrics);
  log.write();
  const json line = log.write();
  CHECK(line["decisions_per_second"] == 0);
}

TEST_CASE("episodes are told by the task's metrics, and means of nothing are null",
          "[unit][train]") {
  Log log;
  (*log).start({}, kMetrics);
  const json nothing = log.write();
  CHECK(nothing["episode"] == json{{"cost", nullptr}, {"delay", nullptr}});
  CHECK(nothing["return"].is_null());
  CHECK(nothing["loss"].is_null());

  log.statistics.episodes.add({3, 10, {0.5, std::nan("")}});
  log.statistics.episodes.add({5, 10, {1.5, 7}});
  log.statistics.updates = 4;
  log.statistics.loss_sum = 2;
  log.statistics.scalar_sums = {{"entropy", 6}};
  log.statistics.policy_lag.add(1, 98);
  log.statistics.policy_lag.add(9, 2);
  const json line = log.write();
  CHECK(line["episode"] == json{{"cost", 1}, {"delay", 7}});  // undefined in one of the two
  CHECK(line["return"] == 4);
  CHECK(line["loss"] == 0.5);
  CHECK(line["entropy"] == 1.5);
  CHECK(line["policy_lag"] == json{{"p50", 1}, {"p99", 9}, {"max", 9}});
}

TEST_CASE("a line has what its writer adds and what the servers count", "[unit][train]") {
  Log log({.server = [] { return serving::ServerCounters{.actors = 3, .gaps = 2}; },
           .replay =
               [] {
                 return replay::ClientStatus{
                     .shards = 1,
                     .items = 70,
                     .each = {{.joined = true, .items = 70, .inserted = 90, .owed = 2}, {}}};
               }});
  (*log).start({}, kMetrics);
  const json line = log.write({{"seconds", 12.5}});
  CHECK(line["seconds"] == 12.5);
  CHECK(line["actors"] == 3);
  CHECK(line["gaps"] == 2);
  CHECK(line["replay"]["items"] == 70);
  const json& each = line["replay"]["each"];
  REQUIRE(each.size() == 2);
  CHECK(each[0]["joined"] == true);
  CHECK(each[0]["inserted"] == 90);
  CHECK(each[0]["owed"] == 2);
  CHECK(each[1]["joined"] == false);
  CHECK_THAT(line["limiter"].get<std::string>(), Catch::Contains("what the shards draw"));
  CHECK(line["resident_bytes"] > 1'000'000);
  CHECK(log.lines() == std::vector{line});
  Log alone;
  CHECK_FALSE(alone.write().contains("replay"));
}

TEST_CASE("a line says who waits for whom where experience comes by way of shards",
          "[unit][train]") {
  replay::ClientStatus status;
  Log log({.server = {}, .replay = [&] { return status; }});
  (*log).start({}, kMetrics);
  const auto limiter = [&](double batches_at_hand, bool waits) {
    const json line = log.write({{"queue_depth", batches_at_hand}});
    CHECK(line["learner_waits"] == waits);
    return line["limiter"].get<std::string>();
  };
  CHECK(limiter(0, true) == "no replay shard is there");
  status = {.shards = 1, .items = 70, .each = {{.joined = true, .items = 70}}};
  CHECK_THAT(limiter(0, true), Catch::StartsWith("the learner waits for what the shards draw"));
  CHECK_THAT(limiter(4, false), Catch::StartsWith("the learner draws as fast as it learns"));
  status.each[0].late = true;
  CHECK_THAT(limiter(0, true), Catch::StartsWith("the learner waits for experience"));
}

TEST_CASE("a line that cannot be written is lost and counted, and the next one begins after it",
          "[unit][train]") {
  Log log({}, "/dev/full");
  (*log).start({}, kMetrics);
  CHECK((*log).faults().failures == 0);
  log.counters.decisions = 100;
  log.clock().advance(10s);
  log.write();
  CHECK((*log).faults().failures == 1);
  CHECK_FALSE((*log).faults().last.empty());
  CHECK_FALSE((*log).due());
  log.counters.decisions = 120;
  log.clock().advance(10s);
  CHECK(log.write()["decisions_per_second"] == 2);
  CHECK((*log).faults().failures == 2);
}

}  // namespace
}  // namespace pacml::apps
