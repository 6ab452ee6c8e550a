#include "apps/evaluation/eval_table.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/evaluation/eval_json.h"
#include "tests/support/catch.h"

using namespace pacml::apps;

namespace {

SeedResult seed_of(std::uint64_t seed, std::int64_t blocked) {
  return {.seed = seed,
          .arrived = 1000,
          .completed = 1000 - blocked,
          .blocked = blocked,
          .blocked_by_cause = {{"op_placement", blocked}},
          .blocking_rate = static_cast<double>(blocked) / 1000.0,
          .mean_jct = 1234.5,
          .mean_jct_speedup = 3.25,
          .mean_demand_total_throughput = 2.5e7};
}

EvalResult sample() {
  return {{{"random", {seed_of(1, 500), seed_of(2, 540)}},
           {"runs/mine", {seed_of(1, 170), seed_of(2, 170)}}}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the table lists policies from the lowest blocking rate, in aligned columns") {
  // random: mean 0.52, s = 0.0282843, t(0.975, 1) = 12.7062, s / sqrt(2) = 0.02.
  CHECK(lines_of(format_table(sample())) ==
        std::vector<std::string>{
            "policy       blocking rate     JCT  speed-up  throughput  seeds  jobs",
            "runs/mine  0.1700 ± 0.0000  1234.5      3.25   2.500e+07      2  2000",
            "random     0.5200 ± 0.2541  1234.5      3.25   2.500e+07      2  2000", "",
            "blocked because of  op_placement", "runs/mine                 0.1700",
            "random                    0.5200"});
}

TEST_CASE("a single seed has no interval, and nothing blocked has no causes") {
  SeedResult seed = seed_of(1, 0);
  seed.mean_jct = std::numeric_limits<double>::quiet_NaN();
  CHECK(lines_of(format_table({{{"p", {seed}}}})) ==
        std::vector<std::string>{"policy  blocking rate  JCT  speed-up  throughput  seeds  jobs",
                                 "p              0.0000    -      3.25   2.500e+07      1  1000"});
}

TEST_CASE("the JSON carries every seed, the interval, and null for what is undefined") {
  EvalResult result = sample();
  result.policies[1].seeds[0].mean_jct = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(to_json(result));
  REQUIRE(json.at("policies").size() == 2);
  const auto& mine = json["policies"][1];
  CHECK(mine["name"] == "runs/mine");
  CHECK(mine["blocking_rate"]["mean"].get<double>() == Approx(0.17));
  CHECK(mine["blocking_rate"]["ci95"].get<double>() == Approx(0).margin(1e-12));
  const auto& seed = mine["seeds"][0];
  CHECK(seed["seed"] == 1);
  CHECK(seed["arrived"] == 1000);
  CHECK(seed["completed"] == 830);
  CHECK(seed["blocked"] == 170);
  CHECK(seed["blocked_by_cause"] == nlohmann::json{{"op_placement", 170}});
  CHECK(seed["blocking_rate"] == 0.17);
  CHECK(seed["mean_jct"].is_null());
  CHECK(seed["mean_jct_speedup"] == 3.25);
  CHECK(seed["mean_demand_total_throughput"] == 2.5e7);
}
