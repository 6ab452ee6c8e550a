#include "apps/evaluation/eval_table.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/evaluation/eval_json.h"
#include "tests/support/catch.h"

using namespace pacml::apps;

namespace {

const std::vector<pacml::env::MetricSpec> kMetrics = {
    {"blocking_rate", "blocking rate", "share", pacml::env::Better::kLower, 4, {}},
    {"mean_jct", "JCT", "time", pacml::env::Better::kLower, 1, {}},
    {"throughput", "throughput", "bytes", pacml::env::Better::kHigher, 1, {}},
    {"blocked", {}, "jobs", pacml::env::Better::kLower, 0, {}},
    {"by_place", "place", "share", pacml::env::Better::kLower, 4, "blocked because of"},
    {"by_limit", "limit", "share", pacml::env::Better::kLower, 4, "blocked because of"}};

SeedResult seed_of(std::uint64_t seed, int blocked) {
  const double rate = blocked / 1000.0;
  return {seed, {5, 1000, {rate, 1234.5, 2.5e7, static_cast<double>(blocked), rate, 0}}};
}

EvalResult sample() {
  return {kMetrics,
          {{"random", {seed_of(1, 500), seed_of(2, 540)}},
           {"runs/mine", {seed_of(1, 170), seed_of(2, 170)}}}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the table lists policies from the best on, in aligned columns") {
  // random: mean 0.52, s = 0.0282843, t(0.975, 1) = 12.7062, s / sqrt(2) = 0.02.
  CHECK(lines_of(format_table(sample())) ==
        std::vector<std::string>{
            "policy       blocking rate     JCT  throughput  seeds",
            "runs/mine  0.1700 ± 0.0000  1234.5   2.500e+07      2",
            "random     0.5200 ± 0.2541  1234.5   2.500e+07      2", "",
            "blocked because of   place", "runs/mine           0.1700",
            "random              0.5200", "",
            "runs/mine is better than random: blocking rate lower by 0.3500 ± 0.2541 (67 %) on the "
            "same 2 episodes"});
}

TEST_CASE("where more is better, the policy with most comes first") {
  EvalResult result = sample();
  result.metrics[0].better = pacml::env::Better::kHigher;
  CHECK(lines_of(format_table(result))[1].starts_with("random"));
  CHECK(best_of(result).name == "random");
  CHECK(best_of(sample()).name == "runs/mine");
}

TEST_CASE("a difference is told as far as the same episodes show it") {
  EvalResult result = sample();
  // What they differ by in each episode is the same, however much the episodes differ.
  for (std::size_t i = 0; i < 2; ++i) {
    result.policies[1].seeds[i].episode.metrics[0] =
        result.policies[0].seeds[i].episode.metrics[0] - 0.01;
  }
  CHECK(
      lines_of(format_table(result)).back() ==
      "runs/mine is better than random: blocking rate lower by 0.0100 ± 0.0000 (2 %) on the same 2 "
      "episodes");
  result.policies[1].seeds[0].episode.metrics[0] = 0.6;
  CHECK(lines_of(format_table(result)).back() ==
        "random and runs/mine: no difference in blocking rate can be told on the same 2 episodes");
  result = sample();
  result.metrics[0].better = pacml::env::Better::kHigher;
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::StartsWith("random is better than runs/mine: blocking rate higher by 0.3500 ± "
                               "0.2541 (206 %) on "));
}

TEST_CASE("the last sentence is about what was learned, wherever it stands in the table") {
  EvalResult result = sample();
  result.policies.push_back({"rule", {seed_of(1, 180), seed_of(2, 180)}});
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::StartsWith("runs/mine is better than rule: "));
  result.policies[0].learned = true;  // the worst of them
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::StartsWith("random is worse than runs/mine: blocking rate higher by 0.3500"));
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::EndsWith("by which runs/mine was picked out of 2: other episodes may say "
                             "otherwise"));
  result.policies[1].learned = true;
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::StartsWith("runs/mine is better than rule: ") &&
                 Catch::EndsWith("by which runs/mine was picked out of 2: other episodes may say "
                                 "otherwise"));
  result.policies[2].learned = true;  // then the best two
  CHECK_THAT(
      lines_of(format_table(result)).back(),
      Catch::StartsWith("runs/mine is better than rule: ") &&
          Catch::EndsWith("on the same 2 episodes, by which these two of 3 were picked: other "
                          "episodes may say otherwise"));
}

TEST_CASE("a policy of which nothing is known comes last and is not the best") {
  EvalResult result = sample();
  for (SeedResult& seed : result.policies[0].seeds) seed.episode.metrics[0] = std::nan("");
  CHECK(lines_of(format_table(result))[2].starts_with("random"));
  CHECK(best_of(result).name == "runs/mine");
}

TEST_CASE("a single seed has no interval, and a group of zeroes is not shown") {
  SeedResult seed = seed_of(1, 0);
  seed.episode.metrics[1] = std::nan("");
  CHECK(lines_of(format_table({kMetrics, {{"p", {seed}}}})) ==
        std::vector<std::string>{"policy  blocking rate  JCT  throughput  seeds",
                                 "p              0.0000    -   2.500e+07      1"});
}

TEST_CASE("the JSON carries every seed, the interval, and null for what is undefined") {
  EvalResult result = sample();
  result.policies[1].seeds[0].episode.metrics[1] = std::nan("");
  result.policies[1].learned = true;
  const auto json = nlohmann::json::parse(to_json(result));
  CHECK(json.at("objective") == "blocking_rate");
  REQUIRE(json.at("policies").size() == 2);
  const auto& mine = json["policies"][1];
  CHECK(mine["name"] == "runs/mine");
  CHECK(mine["learned"] == true);
  CHECK(json["policies"][0]["learned"] == false);
  CHECK(mine["blocking_rate"]["mean"].get<double>() == Approx(0.17));
  CHECK(mine["blocking_rate"]["ci95"].get<double>() == Approx(0).margin(1e-12));
  CHECK(mine["mean_jct"]["mean"] == 1234.5);  // over the other seed
  const auto& seed = mine["seeds"][0];
  CHECK(seed["seed"] == 1);
  CHECK(seed["decisions"] == 1000);
  CHECK(seed["return"] == 5);
  CHECK(seed["blocked"] == 170);
  CHECK(seed["by_place"] == 0.17);
  CHECK(seed["blocking_rate"] == 0.17);
  CHECK(seed["mean_jct"].is_null());
  CHECK(seed["throughput"] == 2.5e7);
}
