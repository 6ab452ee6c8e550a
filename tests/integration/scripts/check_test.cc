// What scripts do before they begin: scripts/check ends with whatever one of its steps finds.

#include <cstdlib>
#include <string>
#include <tuple>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/script_file.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

TEST_CASE("the quick check fails where one of its steps does, and does nothing else",
          "[integration][scripts]") {
  const testing::TempDir stand_ins;
  const std::string fails = GENERATE("nothing", "clang-format", "shellcheck", "python3");
  for (const std::string tool : {"clang-format", "shellcheck", "python3"}) {
    testing::write_script(stand_ins / tool, tool == fails ? "#!/bin/sh\nexit 1\n" : "#!/bin/sh\n");
  }
  testing::write_script(stand_ins / "apt-get", "#!/bin/sh\nexit 99\n");
  const char* const path = std::getenv("PATH");
  REQUIRE(path != nullptr);
  const auto outcome =
      testing::run({testing::source_path("scripts/check").string(), "--quick"},
                   {{"PATH", stand_ins.path().string() + ":" + std::string(path)}});
  INFO(fails << " fails: " << outcome.out << outcome.err);
  CHECK((outcome.code == 0) == (fails == "nothing"));
  CHECK(outcome.out.empty());  // steps that went on would say so
}

TEST_CASE("an option without its value is one sentence and code 2", "[integration][scripts]") {
  for (const auto& [script, option, sentence] :
       {std::tuple("quickstart", "--minutes", "quickstart: --minutes needs a number\n"),
        std::tuple("quickstart", "--run", "quickstart: --run needs a folder\n"),
        std::tuple("test", "--preset", "test: --preset needs a name\n")}) {
    const auto outcome =
        testing::run({testing::source_path("scripts").string() + "/" + script, option});
    CHECK(outcome.code == 2);
    CHECK(outcome.err == sentence);
    CHECK(outcome.out.empty());
  }
}

}  // namespace
}  // namespace pacml
