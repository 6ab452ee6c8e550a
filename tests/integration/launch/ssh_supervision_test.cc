// Roles on other hosts that hang, or do not stop; through a stand-in for ssh.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/hosted_processes.h"
#include "tests/support/pacml_process.h"
#include "tests/support/script_file.h"

namespace pacml {
namespace {

using testing::Pacml;
using testing::tiny_apex_config;
using testing::tiny_config;
using testing::wait_until;
using testing::Workplace;

using Words = std::vector<std::string>;

// The processes of a role on the one host.
struct Place {
  explicit Place(const apps::TrainConfig& config) : work(config) {
    std::ofstream(work / "hosts") << "127.0.0.1 slots=1\n";
    // Does what sshd would: the last words are one line for a shell.
    testing::write_script(work / "ssh",
                          "#!/bin/sh\n"
                          "echo 'Welcome to this host!'\n"  // as login shells may
                          "while [ \"$1\" != -- ]; do shift; done\n"
                          "shift 2\n"
                          "exec sh -c \"$*\"\n");
    ::setenv("PATH", (work / "").string().append(":/usr/bin:/bin").c_str(), 1);
  }
  [[nodiscard]] Words launch(const Words& more = {}) const {
    Words words = {"launch",     work.config_file(),
                   "--on",       "ssh",
                   "--hosts",    (work / "hosts").string(),
                   "--run",      work.run(),
                   "--site-set", "port=" + std::to_string(port),
                   "--site-set", "ssh.silence_seconds=600"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // 0: there is none.
  [[nodiscard]] pid_t role(const std::string& name) const {
    // A shard does not know of the learner's port.
    const std::string of_run =
        name == "replay" ? "--snapshot " + work.run() : "tcp://127.0.0.1:" + std::to_string(port);
    const auto found =
        testing::processes_with({"/bin/pacml", " " + name + " ", of_run}, testing::Who::kRole);
    return found.empty() ? 0 : found.front();
  }
  Workplace work;
  int port = testing::sixteen_ports();
};

TEST_CASE("a role on another host that hangs is replaced", "[integration][launch]") {
  auto config = tiny_config();
  config.supervision.silence_seconds = 5;
  const Place place(config);
  Pacml launch(place.launch());
  place.work.wait_for_decisions(2'000);
  for (const std::string role : {"actor", "learner"}) {
    const std::string name = role == "actor" ? "actor-0" : role;
    const pid_t victim = place.role(role);
    REQUIRE(victim > 0);
    REQUIRE(::kill(victim, SIGSTOP) == 0);
    wait_until("another " + role + " has its place", [&] {
      const pid_t now = place.role(role);
      return now > 0 && now != victim;
    });
    CHECK_THAT(launch.err(), Catch::Contains(name + " hangs (no sign of life for "));
    const auto lines = place.work.metrics().size();
    wait_until("there is news of the present learner",
               [&] { return place.work.metrics().size() > lines; });
    place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  }
  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
}

TEST_CASE("a role on another host that has to be killed is told, and is the exit code",
          "[integration][launch]") {
  auto config = tiny_config();
  config.supervision.stop_seconds = 5;
  const Place place(config);
  Pacml launch(place.launch());
  place.work.wait_for_decisions(2'000);
  const pid_t learner = place.role("learner");
  REQUIRE(learner > 0);
  REQUIRE(::kill(learner, SIGSTOP) == 0);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 128 + SIGKILL);
  CHECK_THAT(launch.err(), Catch::Contains("learner had not stopped yet: killed\n"));
  wait_until("nothing is left of it", [&] { return place.role("learner") == 0; });
  Pacml resumed(place.launch({"--resume", "--set", "supervision.stop_seconds=300"}));
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  CHECK_THAT(resumed.err(), Catch::Contains("the run's former end: the learner was killed before"));
  resumed.signal(SIGTERM);
  CHECK(resumed.end() == 0);
}

TEST_CASE("a shard on another host that has to be killed is told, and is the exit code",
          "[integration][launch]") {
  auto config = tiny_apex_config();
  config.replay.shards = 1;
  config.supervision.stop_seconds = 20;
  const Place place(config);
  Pacml launch(place.launch());
  place.work.wait_for_decisions(2'000);
  wait_until("there is a snapshot",
             [&] { return std::filesystem::exists(place.work / "run" / "replay/shard-0"); });
  const pid_t shard = place.role("replay");
  REQUIRE(shard > 0);
  REQUIRE(::kill(shard, SIGSTOP) == 0);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 128 + SIGKILL);
  // By its attendant, which tells so by its code, or, where that is slow, together with it.
  const std::string killed = "replay-0 had not stopped yet: killed\nreplay-0 ";
  CHECK_THAT(launch.err(), Catch::Contains(killed + "ended with code 137; see ") ||
                               Catch::Contains(killed + "was killed by signal 9 (Killed); see "));
  wait_until("nothing is left of it", [&] { return place.role("replay") == 0; });
  Pacml resumed(place.launch({"--resume", "--set", "supervision.stop_seconds=300"}));
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  CHECK_THAT(resumed.err(),
             Catch::Contains("the run's former end: replay-0 was killed before it had left its "
                             "last snapshot: its table is older than the checkpoint"));
  resumed.signal(SIGTERM);
  CHECK(resumed.end() == 0);
}

}  // namespace
}  // namespace pacml
