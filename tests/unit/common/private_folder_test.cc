#include "common/private_folder.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("a private folder is its owner's alone, and goes with it") {
  std::filesystem::path file;
  {
    const PrivateFolder folder("pacml-test");
    CHECK(std::filesystem::status(folder.path()).permissions() ==
          std::filesystem::perms::owner_all);
    file = folder / "file";
    std::ofstream(file) << "text";
    CHECK(std::filesystem::exists(file));
  }
  CHECK_FALSE(std::filesystem::exists(file.parent_path()));
}

TEST_CASE("two private folders of a name are two") {
  CHECK(PrivateFolder("pacml-test").path() != PrivateFolder("pacml-test").path());
}

}  // namespace
}  // namespace pacml
