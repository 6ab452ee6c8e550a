// Disks that fail while a run goes on. The tests may run as root, whom permissions do not stop: a
// file stands where a folder should be, and /dev/full takes nothing.

#include <sys/mount.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "common/clock.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

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
    CHECK_THAT(process.err(),
               Catch::StartsWith("pacml: the last checkpoint could not be written: ") &&
                   Catch::Contains(folder.string()));
  }
}

TEST_CASE("a folder of checkpoints that is removed is made again", "[fault][train]") {
  const Workplace place;
  Pacml process(train(place));
  place.wait_for_decisions(800);
  const fs::path checkpoints = place / "run" / "checkpoints";
  const auto inode = [&checkpoints] {
    struct stat status {};
    return ::stat(checkpoints.c_str(), &status) == 0 ? status.st_ino : 0;
  };
  const auto former = inode();
  wait_until("it is gone, or another already", [&] {
    std::error_code busy;  // the learner may write into it at the same time
    fs::remove_all(checkpoints, busy);
    return inode() != former;
  });
  wait_until("there is a checkpoint again", [&] { return !place.checkpoints().empty(); });
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
}

// A file system of its own size, where this process may mount one.
class SmallFileSystem {
 public:
  SmallFileSystem(fs::path at, const std::string& size) : at_(std::move(at)) {
    fs::create_directories(at_);
    mounted_ = ::mount("tmpfs", at_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  ~SmallFileSystem() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  void fill() const {
    std::ofstream file(at_ / "filler");
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void make_room() const { fs::remove(at_ / "filler"); }

 private:
  fs::path at_;
  bool mounted_ = false;
};

TEST_CASE("training goes on when the disk is full, and writes whole lines again when it is not",
          "[fault][train]") {
  const Workplace place;
  const SmallFileSystem disk(place / "run", "8m");
  if (!disk.mounted()) {
    WARN("this test is skipped: this process may mount no file system");
    return;
  }
  Pacml process(train(place));
  place.wait_for_decisions(2'000);
  disk.fill();
  const auto address = testing::lines_after(place.log("learner"), "serving actors at ").back();
  wait_until("the status tells of both", [&] {
    const auto faults = testing::status_of(place, address).at("faults");
    return faults["checkpoint_failures"] >= 2 && faults["metrics_failures"] >= 2;
  });
  const auto full = testing::status_of(place, address);
  CHECK_THAT(full["faults"]["last"].get<std::string>(), Catch::Contains("No space left on device"));
  wait_until("it learns all the same", [&] {
    return testing::status_of(place, address)["policy_version"].get<std::int64_t>() >=
           full["policy_version"].get<std::int64_t>() + 10;
  });

  const TimePoint room_since = std::chrono::steady_clock::now();
  disk.make_room();
  const auto lines = place.metrics().size();  // parses every one
  wait_until("metrics go on", [&] { return place.metrics().size() > lines; });
  process.signal(SIGTERM);
  CHECK(process.end() == 0);
  const auto last = place.metrics().back();
  CHECK(last["faults"]["checkpoint_failures"] >= 2);
  CHECK(last["faults"]["metrics_failures"] >= 2);
  // The last line tells of the last checkpoint.
  const std::chrono::duration<double> room_for = std::chrono::steady_clock::now() - room_since;
  CHECK(last["faults"]["checkpoint_age_seconds"] < room_for.count());
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
