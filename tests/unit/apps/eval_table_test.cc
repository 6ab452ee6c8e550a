#include "apps/evaluation/eval_table.h"

#include <algorithm>
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

namespace {

// Two trainings of one method, a single run, and a rule.
EvalResult with_trainings() {
  EvalResult result{kMetrics,
                    {{"runs/m/0", {seed_of(1, 160), seed_of(2, 200)}, true, "runs/m"},
                     {"rule", {seed_of(1, 240), seed_of(2, 280)}},
                     {"runs/m/1", {seed_of(1, 180), seed_of(2, 200)}, true, "runs/m"}}};
  return result;
}

}  // namespace

TEST_CASE("several trainings of one method are told together") {
  // Means .18 and .19: mean .185, s = .00707107, t(0.975, 1) = 12.7062, half a width of .0635.
  // Less than the rule by .08 and .07: mean .075, the same interval; .26 is the rule's.
  const auto lines = lines_of(format_table(with_trainings()));
  const auto head =
      std::ranges::find(lines, "method    blocking rate  median   least    most  trainings");
  REQUIRE(head != lines.end());
  CHECK(*(head + 1) == "runs/m  0.1850 ± 0.0635  0.1850  0.1800  0.1900          2");
  CHECK(lines.back() ==
        "runs/m, mean of 2 trainings, is better than rule: blocking rate lower by 0.0750 ± 0.0635 "
        "(29 %) on the same 2 episodes; the interval is over trainings");
  CHECK(std::ranges::none_of(
      lines, [](const std::string& line) { return line.find("was picked") != std::string::npos; }));
}

TEST_CASE("a single run beside trainings of a method is told beside the best baseline, too") {
  EvalResult result = with_trainings();
  result.policies.push_back({"runs/one", {seed_of(1, 190), seed_of(2, 230)}, true});
  const auto lines = lines_of(format_table(result));
  CHECK(lines[lines.size() - 3] ==
        "runs/one is better than rule: blocking rate lower by 0.0500 ± 0.0000 (19 %) on the same 2 "
        "episodes");
  CHECK_THAT(lines.back(), Catch::StartsWith("runs/m, mean of 2 trainings, is better than rule"));
  result.policies.push_back({"worse", {seed_of(1, 500), seed_of(2, 500)}});
  CHECK_THAT(lines_of(format_table(result)).back(),
             Catch::EndsWith("; the interval is over trainings, and rule was picked out of 2 by "
                             "these episodes"));
  result.policies.pop_back();
  // Without a baseline there is nothing to hold a method against.
  result.policies.erase(result.policies.begin() + 1);
  CHECK_THAT(lines_of(format_table(result)).back(), Catch::StartsWith("runs/m  0.1850"));
}

TEST_CASE("trainings of which nothing is known have no spread") {
  EvalResult result = with_trainings();
  for (PolicyResult& policy : result.policies) {
    for (SeedResult& seed : policy.seeds) seed.episode.metrics[0] = std::nan("");
  }
  const Spread spread = spread_of(methods_of(result).at(0));
  CHECK(std::isnan(spread.mean.mean));
  CHECK(std::isnan(spread.median));
  CHECK(std::isnan(spread.least));
  CHECK_NOTHROW(format_table(result));
}

TEST_CASE("the median of trainings is the middle one, or lies between two") {
  EvalResult result = with_trainings();
  CHECK(spread_of(methods_of(result).at(0)).median == Approx(0.185));
  result.policies.push_back({"runs/m/2", {seed_of(1, 181), seed_of(2, 181)}, true, "runs/m"});
  CHECK(spread_of(methods_of(result).at(0)).median == Approx(0.181));
}

TEST_CASE(
    "the JSON says by how much policies and methods differ from the best baseline, and whence it "
    "is") {
  const auto json = nlohmann::json::parse(
      to_json(with_trainings(), EvalOrigin{"1.0", "c.yaml", {"seed=3"}, "profiles", 3, 20}));
  const auto& first = json.at("policies")[0];
  CHECK(first.at("method") == "runs/m");
  CHECK(first.at("difference").at("from") == "rule");
  CHECK(first["difference"].at("mean").get<double>() == Approx(-0.08));
  CHECK(first["difference"].at("ci95").get<double>() == Approx(0).margin(1e-12));
  CHECK(first["difference"].at("episodes") == 2);
  CHECK_FALSE(json["policies"][1].contains("difference"));
  CHECK_FALSE(json["policies"][1].contains("method"));
  const auto& method = json.at("methods").at(0);
  CHECK(method.at("name") == "runs/m");
  CHECK(method.at("trainings") == nlohmann::json{"runs/m/0", "runs/m/1"});
  CHECK(method.at("mean").get<double>() == Approx(0.185));
  CHECK(method.at("median").get<double>() == Approx(0.185));
  CHECK(method.at("least").get<double>() == Approx(0.18));
  CHECK(method.at("most").get<double>() == Approx(0.19));
  CHECK(method.at("difference").at("mean").get<double>() == Approx(-0.075));
  CHECK(json.at("origin") == nlohmann::json{{"pacml", "1.0"},
                                            {"config", "c.yaml"},
                                            {"set", {"seed=3"}},
                                            {"profiles", "profiles"},
                                            {"seed", 3},
                                            {"first_episode", 20}});
  const auto plain = nlohmann::json::parse(to_json(sample()));
  CHECK_FALSE(plain.contains("methods"));
  CHECK_FALSE(plain.contains("origin"));
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
