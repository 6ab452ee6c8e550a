#include "apps/evaluation/timeline_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "apps/evaluation/explanation.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

env::Timeline sample() {
  env::Timeline timeline;
  timeline.title = "two servers";
  timeline.unit = "s";
  timeline.microseconds_per_unit = 1e6;
  timeline.ends = 4;
  timeline.lanes = {{"servers", "a"}, {"servers", "b"}, {"transfers", "a"}};
  timeline.spans = {{0, "op 1", 0, 1, {}, {}},
                    {1, "op 2", 2, 4, {}, {}},
                    {2, "flow", 1, 2, 10.0, "b"},
                    {2, "flow", 1.5, 2.5, 20.0, "c"}};
  return timeline;
}

TEST_CASE("bars and shares tell how busy a lane is, overlaps counted once", "[unit][evaluation]") {
  CHECK(busy_shares(sample()) == std::vector<double>{0.25, 0.5, 0.375});
  CHECK(busy_bars(sample(), 4) == std::vector<std::string>{"|#   |", "|  ##|", "| #: |"});
  CHECK(to_text(sample(), 4) ==
        "two servers, 4.000 s\n"
        "servers\n"
        "  a  |#   |  25 %\n"
        "  b  |  ##|  50 %\n"
        "transfers\n"
        "  a  | #: |  38 %\n");
}

TEST_CASE("an empty timeline is drawn without a division by nothing", "[unit][evaluation]") {
  env::Timeline empty;
  empty.lanes = {{"servers", "a"}};
  CHECK(busy_shares(empty) == std::vector<double>{0});
  CHECK(busy_bars(empty, 3) == std::vector<std::string>{"|   |"});
  CHECK(chrome_trace(empty)["traceEvents"].size() == 2);
}

// What a viewer needs: every thread and process has a name, and no two spans of a thread overlap.
void check_chrome_trace(const json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> spans;
  std::set<std::pair<int, int>> threads;
  std::set<int> processes;
  for (const json& event : trace["traceEvents"]) {
    const std::pair<int, int> thread{event["pid"], event["tid"]};
    if (event["ph"] == "M") {
      if (event["name"] == "process_name") processes.insert(thread.first);
      if (event["name"] == "thread_name") threads.insert(thread);
      continue;
    }
    REQUIRE(event["ph"] == "X");
    spans[thread].emplace_back(event["ts"].get<double>(), event["dur"].get<double>());
  }
  for (auto& [thread, all] : spans) {
    CHECK(threads.contains(thread));
    CHECK(processes.contains(thread.first));
    std::ranges::sort(all);
    for (std::size_t i = 1; i < all.size(); ++i) {
      // Microseconds of float rounding aside.
      REQUIRE(all[i].first >= all[i - 1].first + all[i - 1].second - 1e-3);
    }
  }
}

TEST_CASE("a Chrome trace gives spans that overlap threads of their own", "[unit][evaluation]") {
  const json trace = chrome_trace(sample());
  check_chrome_trace(trace);
  std::set<std::string> threads;
  std::map<std::string, double> bytes;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") threads.insert(event["args"]["name"]);
    if (event["name"] == "flow") bytes[event["args"]["to"]] = event["args"]["bytes"];
    if (event["name"] == "op 2") {
      CHECK(event["ts"] == 2e6);
      CHECK(event["dur"] == 2e6);
      CHECK(event["pid"] == 1);
    }
  }
  CHECK(threads == std::set<std::string>{"a", "b", "a (2)"});
  CHECK(bytes == std::map<std::string, double>{{"b", 10}, {"c", 20}});
}

TEST_CASE("an explained decision has the timeline of what it starts", "[unit][evaluation]") {
  const auto task = testing::tiny_config().env.make();
  auto one = WatchedPolicy::of_baseline(task, "constant:2");
  auto other = WatchedPolicy::of_baseline(task, "constant:4");
  const Explanation explanation = explain(*task, one, other, Seed{5}, 0, 5);
  REQUIRE(explanation.timeline);
  CHECK_THAT(to_text(explanation), Catch::Contains("one training step of alexnet, degree 2") &&
                                       Catch::Contains("server 0"));
  check_chrome_trace(chrome_trace(*explanation.timeline));
  const auto written = to_json(explanation)["timeline"];
  CHECK(written["lanes"].size() == explanation.timeline->lanes.size());
  CHECK(written["lanes"][0]["busy"].get<double>() > 0);
}

}  // namespace
}  // namespace pacml::apps
