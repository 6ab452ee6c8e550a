#include "apps/launch/site.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

using namespace pacml;
using namespace pacml::apps;

TEST_CASE("without a file a site is the default one") {
  CHECK(load_site("", {}) == Site{});
  CHECK(load_site("", {"slurm.partition=long"}).slurm.partition == "long");
}

TEST_CASE("the sites that come with the program are valid") {
  int sites = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::source_path("configs/sites"))) {
    INFO(entry.path());
    CHECK_NOTHROW(load_site(entry.path().string(), {}));
    ++sites;
  }
  CHECK(sites >= 3);
}

TEST_CASE("a site's mistakes are said with their key") {
  const auto [change, sentence] = GENERATE(table<std::string, std::string>({
      {"slurm.partitoin=a", "did you mean 'partition'"},
      {"slurm.partition=a b", "partition: must be one word"},
      {"slurm.time_limit=a day", "time_limit"},
      {"slurm.time_limit=1:2:3:4", "time_limit"},
      {"slurm.options=[\"-A x\"]", "options"},
      {"port=65534", "port: must be in"},
      {"kubernetes.name=Pacml", "kubernetes.name"},
      {"kubernetes.namespace=-a", "namespace"},
      {"kubernetes.name=2024a", "name: must begin with a letter"},
      {"kubernetes.image=", "image"},
      {"actor.cpus=0", "cpus: must be in 1..1024"},
      {"ssh.silence_seconds=1", "silence_seconds"},
  }));
  CHECK_THROWS_WITH(load_site("", {change}),
                    Catch::StartsWith("--site-set " + change) && Catch::Contains(sentence));
}

TEST_CASE("times are read as Slurm reads them") {
  const auto [text, seconds] = GENERATE(table<std::string, std::optional<std::int64_t>>({
      {"30", 1'800},
      {"1:30", 90},
      {"24:00:00", 86'400},
      {"7-0", 7 * 86'400},
      {"1-2", 26 * 3'600},
      {"1-2:3", 26 * 3'600 + 180},
      {"1-2:3:4", 26 * 3'600 + 184},
      {"0", 0},
      {"", std::nullopt},
      {"-", std::nullopt},
      {"1-", std::nullopt},
      {"1:", std::nullopt},
      {":1", std::nullopt},
      {"1:2-3", std::nullopt},
      {"1-2-3", std::nullopt},
      {"1:2:3:4", std::nullopt},
      {"1-2:3:4:5", std::nullopt},
      {"99999999999999999999", std::nullopt},
      {"30m", std::nullopt},
  }));
  INFO(text);
  CHECK(seconds_of_slurm_time(text) == seconds);
}

TEST_CASE("status pages and roles listen at ports of their own") {
  CHECK(clash_of_ports(0, 5555).empty());
  CHECK(clash_of_ports(5554, 5555).empty());
  CHECK_THAT(clash_of_ports(5555, 5555), Catch::Contains("must not be in 5555..5812"));
  CHECK_FALSE(clash_of_ports(5812, 5555).empty());
  CHECK(clash_of_ports(5813, 5555).empty());
  CHECK(load_site("", {"http_port=5600"}).http_port == 5600);  // roles may take any ports
  CHECK_THROWS_WITH(load_site("", {"http_port=5556", "port=5555"}),
                    Catch::Contains("http_port: must not be in 5555..5812"));
}
