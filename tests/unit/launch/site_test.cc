#include "apps/launch/site.h"

#include <filesystem>

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
      {"slurm.options=[\"-A x\"]", "options"},
      {"port=65534", "port: must be in"},
      {"kubernetes.name=Pacml", "kubernetes.name"},
      {"kubernetes.namespace=-a", "namespace"},
      {"kubernetes.name=2024a", "name: must begin with a letter"},
      {"http_port=5556", "http_port: must not be in 5555..5812"},
      {"kubernetes.image=", "image"},
      {"actor.cpus=0", "cpus: must be in 1..1024"},
      {"ssh.silence_seconds=1", "silence_seconds"},
  }));
  CHECK_THROWS_WITH(load_site("", {change}),
                    Catch::StartsWith("--site-set " + change) && Catch::Contains(sentence));
}
