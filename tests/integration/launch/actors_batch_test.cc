// The batch file of Slurm's actors, with stand-ins for what it starts.

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "apps/process/child_process.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::pacml;
using testing::text_of;
using testing::wait_until;
using testing::Workplace;

// The file of that name in what `pacml launch --on slurm --dry-run` prints.
std::string printed_file(const std::string& out, const std::string& name) {
  const auto at = out.find(name + " <==\n");
  REQUIRE(at != std::string::npos);
  const auto begin = out.find('\n', at) + 1;
  return out.substr(begin, out.find("\n==> ", begin) - begin);
}

// A task of the array, number 3 for the learner's job 7, that starts `program` for pacml.
class Task {
 public:
  // `before`: put ahead of the batch file.
  Task(const Workplace& place, const std::string& program, const std::string& before = "")
      : printed_(place / "printed") {
    const fs::path stand_in = place / "stand-in";
    std::ofstream(stand_in) << "#!/bin/bash\n" << program;
    ::chmod(stand_in.c_str(), 0755);
    const auto printed = pacml({"launch", place.config_file(), "--on", "slurm", "--run",
                                place.run(), "--set", "transport.allow_insecure_bind=true",
                                "--site-set", "program=" + stand_in.string(), "--dry-run"});
    REQUIRE(printed.code == 0);
    const fs::path file = place / "actors.sbatch";
    std::ofstream(file) << before << printed_file(printed.out, "actors.sbatch");
    spec_.name = "task";
    spec_.command = {"/bin/bash", file.string(), "7"};
    spec_.environment = {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_JOB_ID", "8"}};
    spec_.log = printed_;
  }
  [[nodiscard]] apps::ChildProcess start() const {
    auto task = apps::ChildProcess::spawn(spec_);
    REQUIRE(task);
    return std::move(*task);
  }
  [[nodiscard]] std::string printed() const { return text_of(printed_); }

 private:
  fs::path printed_;
  apps::ChildSpec spec_;
};

TEST_CASE("an actor's task outlives an address that vanishes while it is read",
          "[integration][launch]") {
  const Workplace place;
  const Task made(place, "echo \"$*\" >> " + (place / "started").string() +
                             "\n[[ $* == *--learner* ]] || exit 2\nexec sleep 1000\n");
  const fs::path folder = place / "run" / "slurm";
  // It is there, and cannot be read, as in the moment between the look and the reading.
  fs::create_directories(folder / "learner-7.address");

  auto task = made.start();
  wait_until("it has begun",
             [&] { return made.printed().find("actor 3: on ") != std::string::npos; });
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500));  // it looks once a second
  CHECK_FALSE(task.poll());
  CHECK_FALSE(fs::exists(place / "started"));

  fs::remove(folder / "learner-7.address");
  std::ofstream(folder / "learner-7.address.new") << "--learner\ntcp://n1:5555\n";
  fs::rename(folder / "learner-7.address.new", folder / "learner-7.address");
  wait_until("the actor dials the learner", [&] {
    return text_of(place / "started").find("--learner tcp://n1:5555") != std::string::npos;
  });
  // It vanishes for good: the learner may be elsewhere, and the task waits.
  fs::remove(folder / "learner-7.address");
  wait_until("it has noticed",
             [&] { return made.printed().find("the learner has moved") != std::string::npos; });
  CHECK_FALSE(task.poll());
  std::ofstream(folder / "learner-7.ended");
  wait_until("the task ends with the learner", [&] { return task.poll().has_value(); });
  INFO(made.printed());
  CHECK(task.poll()->clean());
}

TEST_CASE("an actor's task gives up what always ends at once", "[integration][launch]") {
  const Workplace place;
  // It pauses between lives, which would take half a minute.
  const Task made(place, "echo life >> " + (place / "lives").string() + "\nexit 132\n",
                  "sleep() { :; }\n");
  const fs::path folder = place / "run" / "slurm";
  fs::create_directories(folder);
  std::ofstream(folder / "learner-7.address") << "--learner\ntcp://n1:5555\n";
  auto task = made.start();
  wait_until("the task has ended", [&] { return task.poll().has_value(); });
  CHECK(task.poll() == apps::ChildExit{132, 0});
  CHECK(text_of(place / "lives").size() == 8 * std::string("life\n").size());
  CHECK_THAT(made.printed(),
             Catch::Contains("8 times in a row") && Catch::Contains("with code 132: given up"));
}

}  // namespace
}  // namespace pacml
