#include "common/base_name.h"

#include <filesystem>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("a folder has its name whichever way it is spelt", "[unit][common]") {
  CHECK(base_name("runs/a") == "a");
  CHECK(base_name("runs/a/") == "a");
  CHECK(base_name("/runs/a/.") == "a");
  CHECK(base_name("runs/a/../b//") == "b");
  CHECK(base_name(".") == base_name(std::filesystem::current_path()));
  CHECK(base_name("/").empty());
}

}  // namespace
}  // namespace pacml
