// Disks that fail while a run goes on. The tests may run as root, whom permissions do not stop: a
// file stands where a folder should be, and /dev/full takes nothing.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::Pacml;
using testing::wait_until;
using testing::Workplace;

std::vector<std::string> train(const Workplace& place) {
  return {"train", place.config_file(), "--run", place.run()};
}

void put_file_in_the_way(const fs::path& folder) {
  // The learner may write into it at the same time.
  std::error_code busy;
  wait_until("the folder is gone", [&] {
    fs::remove_all(folder, busy);
    return !fs::exists(folder) && std::ofstream(folder).is_open() && fs::is_regular_file(folder);
  });
}

TEST_CASE("training goes on without checkpoints, says so, and writes them again when it can",
          "[fault][train]") {
  const Workplace place;
  const fs::path folder = place / "run" / "checkpoints";
  Pacml process(train(place));
  place.wait_for_decisions(2'000);
  put_file_in_the_way(folder);
  wait_until("the log tells", [&] {
    return place.log("learner").find("no checkpoint could be written: ") != std::string::npos;
  });
  CHECK_THAT(place.log("learner"), Catch::Contains(folder.string()));
  place.wait_for_decisions(place.latest("decisions") + 2'000);

  SECTION("the disk comes back") {
    fs::remove(folder);
    wait_until("there is a checkpoint again", [&] { return !place.checkpoints().empty(); });
    process.signal(SIGTERM);
    CHECK(process.end() == 0);
    CHECK(place.metrics().back()["faults"]["checkpoint_failures"] >= 1);
  }
  SECTION("it does not") {
    process.signal(SIGTERM);
    CHECK(process.end() == 2);
    CHECK(place.metrics().back()["faults"]["checkpoint_failures"] >= 2);
    CHECK_THAT(process.err(), Catch::StartsWith("pacml: no checkpoint could be written: ") &&
                                  Catch::Contains(folder.string()));
  }
}

TEST_CASE("a folder of checkpoints that is removed is made again", "[fault][train]") {
  const Workplace place;
  Pacml process(train(place));
  place.wait_for_decisions(800);
  std::error_code busy;
  fs::remove_all(place / "run" / "checkpoints", busy);
  wait_until("there is a checkpoint again", [&] { return !place.checkpoints().empty(); });
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

TEST_CASE("metrics that cannot be written are a line of the log", "[fault][train]") {
  const Workplace place;
  fs::create_directories(place / "run");
  fs::create_symlink("/dev/full", place / "run" / "metrics.jsonl");
  auto words = train(place);
  // In one process: nobody else reads the metrics meanwhile, for /dev/full never ends.
  words.insert(words.end(), {"--deterministic", "--decisions", "8000"});
  const auto outcome = testing::pacml(words);
  INFO(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(place.log("learner"), Catch::Contains("metrics could not be written: ") &&
                                       Catch::Contains("No space left on device"));
  CHECK(place.checkpoints().size() > 1);
}

}  // namespace
}  // namespace pacml
