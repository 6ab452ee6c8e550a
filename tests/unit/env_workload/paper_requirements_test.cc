#include <string>
#include <utility>

#include "common/config/dump.h"
#include "common/config/reader.h"
#include "env/workload/workload_plan.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml::env {
namespace {

// The workload of a whole configuration, which knows more keys than this layer does.
WorkloadConfig workload_of(const std::string& file) {
  const auto source = ConfigSource::from_file(testing::source_path(file));
  const ConfigNode* env = source.root().find("env");
  REQUIRE(env != nullptr);
  const ConfigNode* workload = env->find("workload");
  REQUIRE(workload != nullptr);
  return read_config<WorkloadConfig>(ConfigSource::from_text(file, to_yaml(*workload)));
}

WorkloadConfig read_text(const std::string& text) {
  return read_config<WorkloadConfig>(ConfigSource::from_text("f.yaml", text));
}

}  // namespace

TEST_CASE("the paper's four settings hold the requirements that they are published with") {
  for (const auto& [setting, mean] :
       {std::pair{"a", 0.55}, {"b", 0.285222}, {"c", 0.467876}, {"d", 0.725025}}) {
    INFO(setting);
    const auto config = workload_of("configs/paper/beta_" + std::string(setting) + ".yaml");
    const auto distribution = RequirementDistribution(config.requirement).for_episode(Seed{1});
    CHECK(distribution->values().size() == 91);
    CHECK(distribution->values().front() == 0.1);
    CHECK(distribution->values().back() == 1.0);
    CHECK(distribution->mean() == Approx(mean).margin(1e-6));
  }
}

TEST_CASE("the mixture of the settings is of what they are") {
  const auto mixture = workload_of("configs/cluster/mixture.yaml").requirement;
  CHECK(mixture.kind == DistributionKind::kList);
  REQUIRE(mixture.list.size() == 4);
  for (const auto& [name, member] : mixture.list) {
    INFO(name);
    const RequirementConfig own = workload_of("configs/cluster/beta_" + name + ".yaml").requirement;
    CHECK(static_cast<const DistributionConfig&>(own) == member);
  }
}

TEST_CASE("a requirement that is misspelt in a file is refused with line and key") {
  CHECK_THROWS_WITH(
      read_text("requirement:\n  kind: uniform\n  maximum: 2\n"),
      Catch::Contains("f.yaml:3") && Catch::Contains("maximum") && Catch::Contains("max"));
  CHECK_THROWS_WITH(read_text("requirement:\n  kind: list\n  list:\n    odd: {value: 2}\n"),
                    Catch::Contains("list: odd: value must be above 0 and up to 1"));
  CHECK_THROWS_WITH(read_text("requirement:\n  kind: pmf\n  pmf: {0.5: 0.5}\n"),
                    Catch::Contains("requirement: pmf must sum to 1, not 0.5"));
  CHECK_THROWS_WITH(read_text("interarrival: {kind: fixed, value: -1}\n"),
                    Catch::Contains("interarrival value must be above 0"));
}

}  // namespace pacml::env
