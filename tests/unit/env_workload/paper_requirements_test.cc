#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <type_traits>

#include "common/config/reader.h"
#include "env/workload/requirement.h"
#include "tests/support/catch.h"

namespace pacml::env {

struct RequirementFile {
  RequirementConfig requirement;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RequirementFile>
void visit_fields(Config& c, Visitor&& v) { v("requirement", c.requirement); }

TEST_CASE("the paper's four requirements read as what they are published to be") {
  const std::filesystem::path folder =
      std::filesystem::path(std::getenv("PACML_SOURCE_DIR")) / "configs/paper/requirements";
  for (const auto& [name, mean] : {std::pair{"beta_a", 0.55},
                                   {"beta_b", 0.285222},
                                   {"beta_c", 0.467876},
                                   {"beta_d", 0.725025}}) {
    INFO(name);
    const auto config = read_config<RequirementFile>(
        ConfigSource::from_file(folder / (std::string(name) + ".yaml")));
    const auto distribution = RequirementDistribution(config.requirement).for_episode(Seed{1});
    CHECK(distribution->values().size() == 91);
    CHECK(distribution->values().front() == 0.1);
    CHECK(distribution->values().back() == 1.0);
    CHECK(distribution->mean() == Approx(mean).margin(1e-6));
  }
}

TEST_CASE("a requirement that is misspelt in a file is refused with line and key") {
  CHECK_THROWS_WITH(
      read_config<RequirementFile>(
          ConfigSource::from_text("f.yaml", "requirement:\n  kind: uniform\n  maximum: 2\n")),
      Catch::Contains("f.yaml:3") && Catch::Contains("maximum") && Catch::Contains("max"));
  CHECK_THROWS_WITH(read_config<RequirementFile>(ConfigSource::from_text(
                        "f.yaml", "requirement:\n  kind: list\n  list:\n    odd: {value: 2}\n")),
                    Catch::Contains("list: odd must have all its values above 0 and up to 1"));
  CHECK_THROWS_WITH(read_config<RequirementFile>(ConfigSource::from_text(
                        "f.yaml", "requirement:\n  kind: pmf\n  pmf: {0.5: 0.5}\n")),
                    Catch::Contains("pmf must sum to 1, not 0.5"));
}

}  // namespace pacml::env
