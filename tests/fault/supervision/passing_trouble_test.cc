// What passes by itself: a restart that meets it is tried again; a terminal that is gone; what a
// killed supervisor leaves behind.

#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

namespace pacml::testing {
namespace {

namespace fs = std::filesystem;

// A file that opens and then answers each read with EIO, as a disk that fails does.
void make_unreadable(const fs::path& file) { fs::create_symlink("/proc/self/mem", file); }

// A file in the place of one that is written, where this process may mount: a link is not enough,
// since whoever is to write looks at where it leads.
class UnreadableFile {
 public:
  explicit UnreadableFile(fs::path at) : at_(std::move(at)) {
    std::ofstream(at_, std::ios::app).flush();  // what is there comes back in the end
    mounted_ = ::mount("/proc/self/mem", at_.c_str(), nullptr, MS_BIND, nullptr) == 0;
  }
  UnreadableFile(const UnreadableFile&) = delete;
  UnreadableFile& operator=(const UnreadableFile&) = delete;
  ~UnreadableFile() { remove(); }
  [[nodiscard]] bool mounted() const { return mounted_; }
  void remove() {
    if (std::exchange(mounted_, false)) ::umount2(at_.c_str(), MNT_DETACH);
  }

 private:
  fs::path at_;
  bool mounted_ = false;
};

TEST_CASE("a learner whose checkpoints cannot be read comes again until they can",
          "[fault][supervision]") {
  auto config = tiny_config();
  config.learner.checkpoint_seconds = 1e6;
  const Workplace place(config);
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  train.signal(SIGUSR1);
  wait_until("there is a checkpoint of something", [&] { return place.checkpoints().size() == 2; });
  const fs::path checkpoints = place / "run" / "checkpoints";
  fs::rename(checkpoints, place / "kept");
  fs::create_directory(checkpoints);
  // Named as none of them can be: the first update was long ago.
  const fs::path unreadable = checkpoints / "checkpoint-000000000001.safetensors";
  make_unreadable(unreadable);
  const pid_t victim = role_of(train, kLearnerRole);
  REQUIRE(victim > 0);
  REQUIRE(::kill(victim, SIGKILL) == 0);
  wait_until("it has tried in vain", [&] {
    return train.err().find("learner ended with code 75; starting it again") != std::string::npos;
  });
  CHECK_THAT(train.err(), Catch::Contains("cannot read " + unreadable.string() + ": "));
  // One by one: a learner that found nothing there at all would begin anew.
  std::vector<fs::path> kept;
  for (const auto& file : fs::directory_iterator(place / "kept")) kept.push_back(file.path());
  for (const auto& file : kept) fs::rename(file, checkpoints / file.filename());
  fs::remove(unreadable);
  wait_until("it goes on",
             [&] { return !lines_after(place.log("learner"), "resumed from ").empty(); });
  place.wait_for_decisions(place.latest("decisions") + 2'000);
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

TEST_CASE("a shard whose snapshot cannot be read comes again until it can",
          "[fault][supervision]") {
  auto config = tiny_apex_config();
  config.replay.snapshot_seconds = 0;  // only when asked for
  const Workplace place(config);
  if (!UnreadableFile(place / "tried").mounted()) {
    WARN("this test is skipped: this process may mount nothing");
    return;
  }
  Pacml train(train_words(place));
  place.wait_for_decisions(2'000);
  const fs::path snapshot = place / "run" / "replay" / "shard-1";
  wait_until("the shard has something to keep, and listens",
             [&] { return status_of(place, testing::shard_address(place, 1))["inserted"] > 0; });
  const pid_t victim = role_of(train, shard_role(1));
  REQUIRE(victim > 0);
  REQUIRE(::kill(victim, SIGUSR1) == 0);
  wait_until("there is a snapshot", [&] { return fs::exists(snapshot); });
  UnreadableFile unreadable(snapshot);
  REQUIRE(unreadable.mounted());
  REQUIRE(::kill(victim, SIGKILL) == 0);
  wait_until("it has tried in vain", [&] {
    return train.err().find("replay-1 ended with code 75; starting it again") != std::string::npos;
  });
  unreadable.remove();
  wait_until("it goes on",
             [&] { return !lines_after(place.log("replay-1"), "goes on from ").empty(); });
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

// Where processes that are started meanwhile have their temporary files.
class TemporaryFiles {
 public:
  explicit TemporaryFiles(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directory(folder_);
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() { ::unsetenv("TMPDIR"); }
  // Folders for sockets.
  [[nodiscard]] std::vector<fs::path> left() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name.size() == 12 && name.starts_with("pacml-")) found.push_back(entry.path());
    }
    return found;
  }

 private:
  fs::path folder_;
};

TEST_CASE("a terminal that is gone ends a run in order and leaves no sockets",
          "[fault][supervision]") {
  auto config = tiny_config();
  config.learner.checkpoint_seconds = 1e6;  // none between the first and the last
  const Workplace place(config);
  const TemporaryFiles temporary(place / "tmp");
  Pacml train(train_words(place, {"--actors", "2"}));
  place.wait_for_decisions(2'000);
  CHECK(temporary.left().size() == 1);
  const auto before = place.checkpoints();
  train.signal(SIGHUP);
  train.signal(SIGHUP);  // a shell and the system may both say so
  CHECK(train.end() == 0);
  CHECK(train.err().empty());
  CHECK(place.checkpoints().back() > before.back());
  CHECK(temporary.left().empty());
}

TEST_CASE("what a killed supervisor leaves in the temporary folder goes with the next run",
          "[fault][supervision]") {
  const Workplace place;
  const TemporaryFiles temporary(place / "tmp");
  fs::path left;
  {
    Pacml train(train_words(place));
    place.wait_for_decisions(2'000);
    const auto children = children_of(train.pid());
    REQUIRE(temporary.left().size() == 1);
    left = temporary.left().front();
    train.signal(SIGKILL);
    CHECK(train.end() == 128 + SIGKILL);
    for (const auto& child : children) {
      wait_until(child.second + " is gone", [&] { return is_gone(child.first); });
    }
  }
  CHECK(fs::exists(left));
  const auto resumed = pacml(train_words(
      place, {"--resume", "--decisions", std::to_string(place.latest("decisions") + 2'000)}));
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(temporary.left().empty());
}

}  // namespace
}  // namespace pacml::testing
