// Actors that crash as soon as they are started.

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"
#include "tests/support/script_file.h"

namespace pacml::testing {
namespace {

namespace fs = std::filesystem;

// The programs in a folder of their own, where `pacml`, as which actors are started, ends at once.
// Returns the program that trains.
fs::path install_with_crashing_actors(const fs::path& folder) {
  fs::create_directory(folder);
  const fs::path built = pacml_path();
  fs::copy_file(built, folder / "train");
  fs::create_symlink(built.parent_path() / "pacml-learner", folder / "pacml-learner");
  testing::write_script(folder / "pacml", "#!/bin/sh\nexit 3\n");
  return folder / "train";
}

TEST_CASE("a run whose actors crash for ever ends with a sentence and their exit code",
          "[fault][supervision]") {
  const Workplace place;
  std::vector<std::string> words = train_words(place, {"--minutes", "0.03"});
  words.insert(words.begin(), install_with_crashing_actors(place / "bin").string());
  const auto trained = run(words);
  INFO(trained.err);
  CHECK(trained.code == 3);
  CHECK_THAT(trained.err, Catch::Contains("actor-0 ended with code 3"));
  // On a busy machine the actor may have died too often before the learner's time is over.
  CHECK_THAT(trained.err,
             Catch::Contains("nothing was learned, since no actor lived long enough: actor-0 ") ||
                 Catch::Contains("no actor is left: stopping"));
}

}  // namespace
}  // namespace pacml::testing
