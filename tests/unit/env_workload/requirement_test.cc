#include "env/workload/requirement.h"

#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

DistributionConfig fixed(double value) {
  return {.kind = DistributionKind::kFixed, .value = value};
}

RequirementConfig one_of(std::map<std::string, DistributionConfig> members) {
  RequirementConfig config;
  config.kind = DistributionKind::kList;
  config.list = std::move(members);
  return config;
}

RequirementConfig uniform(double min, double max) {
  RequirementConfig config;
  config.min = min;
  config.max = max;
  return config;
}

std::string first_problem(const RequirementConfig& config) {
  const auto problems = validate(config);
  return problems.empty() ? "" : problems.front();
}

}  // namespace

TEST_CASE("the default requirement is the published uniform one") {
  const auto d = RequirementDistribution(RequirementConfig{}).for_episode(Seed{1});
  CHECK(d->values().size() == 91);
  CHECK(d->mean() == Approx(0.55));
}

TEST_CASE("the grid's overshoot above 1 is not a requirement") {
  const auto d = RequirementDistribution(uniform(0.7, 1.0)).for_episode(Seed{1});
  CHECK(d->values().back() == 1.0);
  CHECK(d->probabilities().back() == Approx(1.0 / static_cast<double>(d->values().size())));
  CHECK(RequirementDistribution(uniform(1.0, 1.0)).for_episode(Seed{1})->values().size() == 1);
}

TEST_CASE("a frozen requirement is the same object in every episode") {
  RequirementConfig config;
  config.kind = DistributionKind::kSkewNormal;
  config.skewness = 5;
  const RequirementDistribution requirement(config);
  CHECK(requirement.for_episode(Seed{1}) == requirement.for_episode(Seed{2}));
}

TEST_CASE("a redrawn skew-normal is a function of the episode") {
  RequirementConfig config;
  config.kind = DistributionKind::kSkewNormal;
  config.skewness = 5;
  config.redraw_each_episode = true;
  const RequirementDistribution requirement(config);
  const double mean = requirement.for_episode(Seed{1})->mean();
  CHECK(requirement.for_episode(Seed{1})->mean() == mean);
  CHECK(requirement.for_episode(Seed{2})->mean() != mean);
}

TEST_CASE("a list gives each episode one of its members, all about equally often") {
  const RequirementDistribution requirement(
      one_of({{"tight", fixed(0.2)}, {"middle", fixed(0.5)}, {"loose", fixed(0.9)}}));
  std::map<double, int> episodes;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto d = requirement.for_episode(Seed{seed});
    REQUIRE(d->values().size() == 1);
    ++episodes[d->mean()];
  }
  REQUIRE(episodes.size() == 3);
  for (const auto& [mean, count] : episodes) {
    INFO("mean " << mean);
    CHECK(count > 900);  // 1000 expected, standard deviation 26
    CHECK(count < 1100);
  }
}

TEST_CASE("a requirement outside (0, 1] is refused with the key at fault") {
  RequirementConfig config;
  config.kind = DistributionKind::kFixed;
  config.value = 0;
  CHECK(first_problem(config) == "value must be above 0 and up to 1");
  config.value = 1.01;
  CHECK(first_problem(config) == "value must be above 0 and up to 1");
  CHECK(first_problem(uniform(0.004, 1.0)) ==
        "kind uniform must have all its values above 0 and up to 1");
  CHECK(first_problem(uniform(0.5, 1.5)) == "max must be above 0 and up to 1");
  RequirementConfig above;
  above.kind = DistributionKind::kPmf;
  above.pmf = {{"0.5", 0.5}, {"1.5", 0.5}};
  CHECK(first_problem(above) == "kind pmf must have all its values above 0 and up to 1");
  CHECK(first_problem(uniform(0.9, 0.5)) == "min (0.9) must not be above max (0.5)");
  CHECK(first_problem(one_of({})) == "list must name at least one distribution");
  CHECK(first_problem(one_of({{"odd", fixed(2.0)}})) ==
        "list: odd: value must be above 0 and up to 1");
  CHECK_THROWS_AS(RequirementDistribution(one_of({})), UserError);
  CHECK_THROWS_WITH(RequirementDistribution(one_of({{"odd", {.kind = DistributionKind::kList}}})),
                    "kind must not be list here");
}

TEST_CASE("a key of a requirement that its kind does not read is refused out of range, too") {
  const auto kind =
      GENERATE(DistributionKind::kFixed, DistributionKind::kUniform, DistributionKind::kPmf,
               DistributionKind::kSkewNormal, DistributionKind::kList);
  RequirementConfig config = one_of({{"one", fixed(0.5)}});
  config.kind = kind;
  config.pmf = {{"0.5", 1.0}};
  INFO(name_of(kind));
  REQUIRE(first_problem(config).empty());
  const auto problem = [&](auto change) {
    RequirementConfig changed = config;
    change(changed);
    return first_problem(changed);
  };
  CHECK(problem([](auto& c) { c.value = 2; }) == "value must be above 0 and up to 1");
  CHECK(problem([](auto& c) { c.min = 0; }) == "min must be above 0 and up to 1");
  CHECK(problem([](auto& c) { c.max = 2; }) == "max must be above 0 and up to 1");
  CHECK(problem([](auto& c) { c.decimals = 10; }) == "decimals must be 0 to 9, not 10");
  CHECK(problem([](auto& c) { c.num_bins = 0; }) == "num_bins must be 1 to 1000000");
  CHECK(problem([](auto& c) { c.amplitude = 2; }) == "amplitude must be from 0 to 1");
  CHECK(problem([](auto& c) { c.pmf = {{"0.5", 0.5}}; }) == "pmf must sum to 1, not 0.5");
  CHECK(problem([](auto& c) { c.list["two"].value = 2; }) ==
        "list: two: value must be above 0 and up to 1");
  CHECK(problem([](auto& c) { c.list["two"].min = -1; }) ==
        "list: two: min must be above 0 and up to 1");
}

TEST_CASE("the field list of a requirement ends with its own key") {
  RequirementConfig config;
  std::vector<std::string> keys;
  visit_fields(config, [&](const char* key, const auto&) { keys.emplace_back(key); });
  CHECK(keys.front() == "kind");
  CHECK(keys.back() == "list");
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
}

}  // namespace pacml::env
