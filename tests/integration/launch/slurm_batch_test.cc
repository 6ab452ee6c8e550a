// The batch files of Slurm, with stand-ins for what it starts.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "apps/process/child_process.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/script_file.h"

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

// A job of batch file `name` that starts `program` for pacml.
class BatchJob {
 public:
  // `before`: put ahead of the batch file.
  BatchJob(const Workplace& place, const std::string& name, const std::string& program,
           const std::string& before)
      : printed_(place / "printed") {
    const fs::path stand_in = place / "stand-in";
    testing::write_script(stand_in, "#!/bin/bash\n" + program);
    const auto printed =
        pacml({"launch", place.config_file(), "--on", "slurm", "--run", place.run(), "--set",
               "transport.allow_insecure_bind=true", "--set", "supervision.silence_seconds=5",
               "--site-set", "program=" + stand_in.string(), "--dry-run"});
    REQUIRE(printed.code == 0);
    const fs::path file = place / name;
    std::ofstream(file) << before << printed_file(printed.out, name);
    spec_.name = "job";
    spec_.command = {"/bin/bash", file.string()};
    spec_.log = printed_;
  }
  [[nodiscard]] apps::ChildProcess start() const {
    auto task = apps::ChildProcess::spawn(spec_);
    REQUIRE(task);
    return std::move(*task);
  }
  [[nodiscard]] std::string printed() const { return text_of(printed_); }
  [[nodiscard]] bool says(const std::string& what) const {
    return printed().find(what) != std::string::npos;
  }

 protected:
  apps::ChildSpec& spec() { return spec_; }

 private:
  fs::path printed_;
  apps::ChildSpec spec_;
};

// A task of the array, number 3 for the learner's job 7.
class Task : public BatchJob {
 public:
  Task(const Workplace& place, const std::string& program, const std::string& before = "")
      : BatchJob(place, "actors.sbatch", program, before) {
    spec().command.emplace_back("7");
    spec().environment = {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_JOB_ID", "8"}};
  }
};

// The learner's job, number 7; what would ask Slurm for another life says so in a file.
class LearnerJob : public BatchJob {
 public:
  LearnerJob(const Workplace& place, const std::string& program)
      : BatchJob(place, "learner.sbatch", program,
                 "scontrol() { :; }\nexec() { echo \"asked for: $*\"; exit 0; }\n") {
    spec().environment = {{"SLURM_JOB_ID", "7"}};
  }
};

// A learner is there, and has an address.
void tell_of_learner(const Workplace& place) {
  const fs::path folder = place / "run" / "slurm";
  fs::create_directories(folder);
  std::ofstream(folder / "learner-7.address") << "--learner\ntcp://n1:5555\n";
}

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
  const std::ofstream ended(folder / "learner-7.ended");
  wait_until("the task ends with the learner", [&] { return task.poll().has_value(); });
  INFO(made.printed());
  CHECK(task.poll()->clean());
}

TEST_CASE("an actor's task gives up what always ends at once", "[integration][launch]") {
  const Workplace place;
  // It pauses between lives, which would take half a minute.
  const Task made(place, "echo life >> " + (place / "lives").string() + "\nexit 132\n",
                  "sleep() { :; }\n");
  tell_of_learner(place);
  auto task = made.start();
  wait_until("the task has ended", [&] { return task.poll().has_value(); });
  CHECK(task.poll() == apps::ChildExit{132, 0});
  CHECK(text_of(place / "lives").size() == 8 * std::string("life\n").size());
  CHECK_THAT(made.printed(),
             Catch::Contains("8 times in a row") && Catch::Contains("with code 132: given up"));
}

TEST_CASE("an actor of a task that hangs is killed and started again", "[integration][launch]") {
  const Workplace place;
  const std::string lives = (place / "lives").string();
  const Task made(place,
                  "trap '' TERM\nsay() { echo \"pacml $1\" >&\"$PACML_LIFE_LINE\"; }\n"
                  "echo life >> " +
                      lives +
                      "\nsay +\n"
                      "case $(wc -l < " +
                      lives +
                      ") in\n"
                      "1) while :; do sleep 0.1; done ;;\n"
                      "2) while :; do sleep 1; say '! thread actor has been silent'; done ;;\n"
                      "*) while :; do sleep 1; say +; done ;;\n"
                      "esac\n");
  tell_of_learner(place);
  auto task = made.start();
  wait_until("its silence is noticed",
             [&] { return made.says("it hangs (it gives no sign of life): killing it"); });
  wait_until("what it says of its thread is heard",
             [&] { return made.says("it hangs (thread actor has been silent): killing it"); });
  wait_until("it has a third life",
             [&] { return text_of(lives).size() == 3 * std::string("life\n").size(); });
  CHECK_FALSE(task.poll());
  const std::ofstream ended(place / "run" / "slurm" / "learner-7.ended");
  wait_until("the task ends with the learner, though its actor is deaf",
             [&] { return task.poll().has_value(); });
  INFO(made.printed());
  CHECK(task.poll()->clean());
  CHECK(made.says("it had not stopped yet: killed"));
}

TEST_CASE("a task whose learner has moved goes after it", "[integration][launch]") {
  const Workplace place;
  const Task made(place, "echo \"$*\" >> " + (place / "started").string() + "\nexec sleep 1000\n");
  tell_of_learner(place);
  auto task = made.start();
  wait_until("it has dialled", [&] { return !text_of(place / "started").empty(); });
  const fs::path address = place / "run" / "slurm" / "learner-7.address";
  std::ofstream(address.string() + ".new") << "--learner\ntcp://n2:5555\n";
  fs::rename(address.string() + ".new", address);
  wait_until("it dials the new address",
             [&] { return text_of(place / "started").find("tcp://n2:5555") != std::string::npos; });
  task.send(SIGTERM);
  wait_until("it ends", [&] { return task.poll().has_value(); });
  INFO(made.printed());
  CHECK(task.poll()->clean());
}

TEST_CASE("a learner's job that ends for what may pass is requeued, not for ever",
          "[integration][launch]") {
  const Workplace place;
  fs::create_directories(place / "run" / "slurm");
  const LearnerJob made(place, "exit 75\n");
  for (int life = 1; life <= 8; ++life) {
    auto job = made.start();
    wait_until("the job has ended", [&] { return job.poll().has_value(); });
    INFO(made.printed());
    CHECK(job.poll() == apps::ChildExit{life < 8 ? 0 : 75, 0});
    CHECK(fs::exists(place / "run" / "slurm" / "learner-7.ended") == (life == 8));
  }
  CHECK(made.says("asked for: scontrol requeue 7"));
}

TEST_CASE("a learner's job whose time is nearly over is requeued, but not for its user's mistakes",
          "[integration][launch]") {
  const auto [code, requeued] = GENERATE(table<int, bool>({{0, true}, {137, true}, {2, false}}));
  const Workplace place;
  fs::create_directories(place / "run" / "slurm");
  const bool ends_at_warning = GENERATE(false, true);
  const std::string exits = "exit " + std::to_string(code);
  const LearnerJob made(place, "trap '" + exits + "' TERM; trap '" +
                                   (ends_at_warning ? exits : ":") + "' USR1; : > " +
                                   (place / "there").string() + "; while :; do sleep 0.1; done\n");
  auto job = made.start();
  wait_until("it trains", [&] { return fs::exists(place / "there"); });
  job.send(SIGUSR1);
  wait_until("the job has ended", [&] { return job.poll().has_value(); });
  INFO(made.printed());
  CHECK(job.poll() == apps::ChildExit{requeued ? 0 : code, 0});
  CHECK(made.says("asked for: scontrol requeue 7") == requeued);
}

}  // namespace
}  // namespace pacml
