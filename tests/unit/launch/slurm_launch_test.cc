#include "apps/launch/slurm_launch.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/script_file.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

using namespace pacml;
using namespace pacml::apps;

namespace fs = std::filesystem;

namespace {

// A Slurm that says what it is told to say, ahead of any other on PATH.
class PretendedSlurm {
 public:
  PretendedSlurm() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  PretendedSlurm(const PretendedSlurm&) = delete;
  PretendedSlurm& operator=(const PretendedSlurm&) = delete;
  ~PretendedSlurm() { ::setenv("PATH", path_.c_str(), 1); }

  void say(const std::string& program, const std::string& script) const {
    testing::write_script(folder_ / program, "#!/bin/sh\n" + script + "\n");
  }
  [[nodiscard]] std::string place(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  testing::TempDir folder_;
  std::string path_;
};

LaunchRequest request_in(const std::string& run) {
  LaunchRequest request;
  request.config = testing::tiny_config();
  request.run = run;
  request.actors = 2000;
  request.config.transport.allow_insecure_bind = true;
  return request;
}

}  // namespace

TEST_CASE("a learner's job whose actors cannot be submitted is taken back") {
  const PretendedSlurm slurm;
  slurm.say("sbatch", "case \"$*\" in *--array*) echo too many >&2; exit 1;; esac; echo 12");
  std::ostringstream out;
  SECTION("and it is said") {
    slurm.say("scancel", "echo \"$*\" > " + slurm.place("cancelled"));
    CHECK_THROWS_WITH(
        launch_on_slurm(request_in(slurm.place("run")), out),
        Catch::Contains("too many") && Catch::EndsWith("; the learner's job 12 is cancelled"));
    CHECK(testing::text_of(slurm.place("cancelled")) == "12\n");
  }
  SECTION("or it is said how, where it cannot be") {
    slurm.say("scancel", "exit 1");
    CHECK_THROWS_WITH(launch_on_slurm(request_in(slurm.place("run")), out),
                      Catch::EndsWith("; the learner's job 12 is there all the same: scancel 12"));
  }
  CHECK(out.str().empty());
}

TEST_CASE("another launch into a folder changes nothing for jobs that wait") {
  const PretendedSlurm slurm;
  slurm.say("sbatch", "echo 12");
  std::ostringstream out;
  LaunchRequest request = request_in(slurm.place("run"));
  REQUIRE(launch_on_slurm(request, out) == 0);
  const SlurmJobs first = make_slurm_jobs(request);
  request.config.seed += 1;
  REQUIRE(launch_on_slurm(request, out) == 0);
  CHECK(testing::text_of(first.config_file) == first.config);
  CHECK_THAT(first.learner, Catch::Contains(first.config_file));
  const SlurmJobs second = make_slurm_jobs(request);
  CHECK(testing::text_of(second.config_file) == second.config);
  CHECK(second.config != first.config);
}

TEST_CASE("what a job on Slurm reads is named so that it is found from every folder") {
  LaunchRequest request = request_in("run");
  request.config.warm_start.from = "other/run";
  const std::string config = make_slurm_jobs(request).config;
  CHECK_THAT(config, Catch::Contains("from: " + (fs::current_path() / "other/run").string()) ||
                         Catch::Contains("from: \"" + (fs::current_path() / "other/run").string()));
}

TEST_CASE("a time limit that leaves no time to train in is refused") {
  LaunchRequest request = request_in("run");
  request.site.slurm.time_limit = "10";
  request.site.slurm.warning_seconds = 481;
  CHECK_THROWS_WITH(make_slurm_jobs(request),
                    Catch::StartsWith("slurm.time_limit: of 10, the last 481 s are there to stop"));
  request.site.slurm.warning_seconds = 480;
  CHECK_NOTHROW(make_slurm_jobs(request));
  request.site.slurm.warning_seconds = 481;
  request.site.slurm.time_limit = "0";  // none
  CHECK_NOTHROW(make_slurm_jobs(request));
}
