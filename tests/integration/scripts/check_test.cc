// scripts/check: whatever one of its steps finds ends it.

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

// A program of that name that ends with `code`, whatever it is asked.
void write_stand_in(const std::filesystem::path& file, int code) {
  std::ofstream(file) << "#!/bin/sh\nexit " << code << "\n";
  ::chmod(file.c_str(), 0755);
}

TEST_CASE("the quick check fails where one of its steps does, and does nothing else",
          "[integration][scripts]") {
  const testing::TempDir stand_ins;
  const std::string fails = GENERATE("nothing", "clang-format", "shellcheck", "python3");
  for (const std::string tool : {"clang-format", "shellcheck", "python3"}) {
    write_stand_in(stand_ins / tool, tool == fails ? 1 : 0);
  }
  write_stand_in(stand_ins / "apt-get", 99);
  const char* const path = std::getenv("PATH");
  REQUIRE(path != nullptr);
  const auto outcome =
      testing::run({testing::source_path("scripts/check").string(), "--quick"},
                   {{"PATH", stand_ins.path().string() + ":" + std::string(path)}});
  INFO(fails << " fails: " << outcome.out << outcome.err);
  CHECK((outcome.code == 0) == (fails == "nothing"));
  CHECK(outcome.out.empty());  // steps that went on would say so
}

}  // namespace
}  // namespace pacml
