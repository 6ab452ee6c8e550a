// `pacml launch --on ssh`: through a stand-in for ssh, and through a real one where there is an
// sshd.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/run_directory.h"
#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/hosted_processes.h"
#include "tests/support/pacml_process.h"
#include "tests/support/run_checkpoint.h"
#include "tests/support/script_file.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::Pacml;
using testing::text_of;
using testing::wait_until;
using testing::Who;
using testing::Workplace;

using Words = std::vector<std::string>;

// Two hosts' worth of roles on this one.
struct Place {
  explicit Place(const apps::TrainConfig& config = testing::tiny_config()) : work(config) {
    std::ofstream(work / "hosts") << "127.0.0.1 slots=2\n";
    fs::create_directory(work / "tmp");
    // Does what sshd would: the last words are one line for a shell.
    testing::write_script(work / "ssh",
                          "#!/bin/sh\n"
                          "export TMPDIR=" +
                              (work / "tmp").string() +
                              "\n"
                              "while [ \"$1\" != -- ]; do shift; done\n"
                              "shift 2\n"
                              "exec sh -c \"$*\"\n");
  }
  [[nodiscard]] Words launch(const Words& more = {}, int silence_seconds = 600) const {
    Words words = {"launch",     work.config_file(),
                   "--on",       "ssh",
                   "--hosts",    (work / "hosts").string(),
                   "--run",      work.run(),
                   "--site-set", "port=" + std::to_string(port),
                   "--site-set", "ssh.silence_seconds=" + std::to_string(silence_seconds)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void use_stand_in() const {
    ::setenv("PATH", (work / "").string().append(":/usr/bin:/bin").c_str(), 1);
  }
  // Notes the words of each call for the learner or a shard in "dialled-ROLE-..."; for these,
  // `then` comes before they are reached.
  void note_words(const std::string& then = "") const {
    fs::rename(work / "ssh", work / "ssh-that-reaches");
    const std::string folder = (work / "").string();
    testing::write_script(work / "ssh",
                          "#!/bin/sh\n"
                          "cd " +
                              folder +
                              "\n"
                              "for role in learner replay; do\n"
                              "  case \"$*\" in *pacml*\" $role \"*)\n"
                              "    echo \"$*\" >dialled-$role-$$\n"
                              "    " +
                              then +
                              " ;;\n"
                              "  esac\n"
                              "done\n"
                              "exec " +
                              folder + "ssh-that-reaches \"$@\"\n");
  }
  // What was noted of a role, a call each.
  [[nodiscard]] std::vector<std::string> dialled(const std::string& role) const {
    std::vector<std::string> calls;
    for (const auto& entry : fs::directory_iterator(work / "")) {
      if (entry.path().filename().string().starts_with("dialled-" + role)) {
        calls.push_back(text_of(entry.path()));
      }
    }
    return calls;
  }
  // Of this run, as their command lines have it.
  [[nodiscard]] std::vector<pid_t> roles(const std::string& role, Who wanted = Who::kRole) const {
    const std::string of_run =
        role == "learner" ? "--run " + work.run() : "tcp://127.0.0.1:" + std::to_string(port);
    return testing::processes_with({"/bin/pacml", " " + role + " ", of_run}, wanted);
  }
  void wait_for_actors(int count) const {
    wait_until(std::to_string(count) + " actors are there",
               [&] { return work.latest("actors") == count; });
  }
  void wait_until_all_ended() const {
    for (const Who wanted : {Who::kRole, Who::kAttendant}) {
      wait_until("no role is left, nor whoever attended to it", [&] {
        return roles("learner", wanted).empty() && roles("actor", wanted).empty();
      });
    }
  }
  Workplace work;
  int port = testing::sixteen_ports();
};

TEST_CASE("roles over ssh learn, come back when they are killed, and stop in order",
          "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  Pacml launch(place.launch());
  place.work.wait_for_decisions(2'000);
  place.wait_for_actors(2);

  REQUIRE(place.roles("learner").size() == 1);
  REQUIRE(::kill(place.roles("learner")[0], SIGKILL) == 0);
  wait_until("a second learner goes on",
             [&] { return place.work.log("learner").find("resumed from") != std::string::npos; });
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);

  const auto actors = place.roles("actor");
  REQUIRE(actors.size() == 2);
  REQUIRE(::kill(actors[0], SIGKILL) == 0);
  wait_until("another actor has come for it", [&] {
    const auto now = place.roles("actor");
    return now.size() == 2 && now != actors;
  });

  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
  CHECK_THAT(launch.err(), Catch::Contains("starting it again"));
  place.wait_until_all_ended();
  CHECK_FALSE(place.work.checkpoints().empty());
}

TEST_CASE("two learners over ssh take every update together", "[integration][launch]") {
  apps::TrainConfig config = testing::tiny_config();
  config.learner.replicas = 2;
  const Place place(config);
  place.use_stand_in();
  Pacml launch(place.launch());
  wait_until("both learners are in one group", [&] {
    return place.work.log("learner-1").find("2 replicas learn together") != std::string::npos;
  });
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  REQUIRE(place.roles("learner").size() == 2);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
  place.wait_until_all_ended();
  CHECK(place.work.metrics().back().at("replicas").at("divergences") == 0);
}

TEST_CASE("nothing is orphaned when the launcher is gone", "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  {
    Pacml launch(place.launch());
    place.work.wait_for_decisions(2'000);
    place.wait_for_actors(2);
    launch.signal(SIGKILL);
  }
  place.wait_until_all_ended();
  // All had the time to stop in order.
  CHECK_THAT(place.work.log("actor-0"), Catch::Contains("; ended: "));
  CHECK_THAT(place.work.log("actor-1"), Catch::Contains("; ended: "));
  CHECK(testing::newest_checkpoint(place.work).counters.at("decisions") ==
        place.work.latest("decisions"));
}

TEST_CASE("a launcher that falls silent is taken for gone, and goes on when it is back",
          "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  // As long as a busy machine may keep it from saying something.
  Pacml launch(place.launch({}, 15));
  place.work.wait_for_decisions(2'000);
  launch.signal(SIGSTOP);
  place.wait_until_all_ended();
  launch.signal(SIGCONT);
  // Nobody has come to an end: all are started again.
  wait_until("a second learner goes on",
             [&] { return place.work.log("learner").find("resumed from") != std::string::npos; });
  place.wait_for_actors(2);
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
  CHECK_THAT(launch.err(), Catch::Contains("learner ended with code 75; starting it again"));
}

TEST_CASE("a role whose host is not reached at first is told all that is told at the launch",
          "[integration][launch]") {
  const Place place(testing::tiny_apex_config());
  place.use_stand_in();
  place.note_words("[ -e away-$role ] || { : >away-$role; exit 255; }");
  Pacml launch(place.launch());
  place.work.wait_for_decisions(2'000);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
  // Of two shards either may have been the first, or both.
  CHECK_THAT(launch.err(), Catch::Contains("replay-") &&
                               Catch::Contains("learner ended with code 255; starting it again"));
  const auto learners = place.dialled("learner");
  CHECK(learners.size() >= 2);
  for (const auto& words : learners) CHECK_THAT(words, !Catch::Contains("--continue"));
  const auto shards = place.dialled("replay");
  CHECK(shards.size() >= 3);
  for (const auto& words : shards) CHECK_THAT(words, Catch::Contains("--run-begins"));
}

TEST_CASE("a shard whose snapshot somebody else holds is told again that the run begins",
          "[integration][launch]") {
  const Place place(testing::tiny_apex_config());
  place.use_stand_in();
  place.note_words();
  const auto snapshot = apps::RunDirectory::snapshot_file(place.work.run(), 1);
  fs::create_directories(snapshot.parent_path());
  std::optional<apps::SnapshotLock> former(snapshot);
  Pacml launch(place.launch());
  wait_until("it is to try again", [&] {
    return launch.err().find("replay-1 ended with code 75; starting it again") != std::string::npos;
  });
  former.reset();
  // Learning does not wait for every shard.
  wait_until("it serves",
             [&] { return place.work.log("replay-1").find("serving") != std::string::npos; });
  place.work.wait_for_decisions(2'000);
  launch.signal(SIGTERM);
  CHECK(launch.end() == 0);
  const auto shards = place.dialled("replay");
  CHECK(shards.size() >= 3);
  for (const auto& words : shards) CHECK_THAT(words, Catch::Contains("--run-begins"));
}

TEST_CASE("a launch that is stopped before its learner has begun says that nothing is saved",
          "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  // Roles that never come so far as to listen.
  testing::write_script(
      place.work / "program",
      "#!/bin/sh\necho >" + (place.work / "began-").string() + "$1\nexec sleep 1000\n");
  Pacml launch(place.launch({"--site-set", "program=" + (place.work / "program").string()}));
  wait_until("the learner's process is there",
             [&] { return fs::exists(place.work / "began-learner"); });
  launch.signal(SIGTERM);
  CHECK(launch.end() == 130);
  CHECK_THAT(launch.err(), Catch::EndsWith("stopped before training began: nothing is saved\n"));
}

TEST_CASE("a launch that is stopped before a learner has come for one that died says so",
          "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  // A learner that listens, dies, and never comes so far again.
  testing::write_script(place.work / "program",
                        "#!/bin/sh\n"
                        "[ $1 = learner ] || exec sleep 1000\n"
                        "cd " +
                            (place.work / "").string() +
                            "\n"
                            "[ ! -e lived ] || { : >comes; exec sleep 1000; }\n"
                            ": >lived\n"
                            "echo 'pacml +' >&$PACML_LIFE_LINE\n"
                            "exit 3\n");
  Pacml launch(place.launch({"--site-set", "program=" + (place.work / "program").string()}));
  wait_until("the next learner's process is there",
             [&] { return fs::exists(place.work / "comes"); });
  launch.signal(SIGTERM);
  CHECK(launch.end() == 130);
  CHECK_THAT(launch.err(), Catch::EndsWith("no checkpoint of it is known\n"));
}

TEST_CASE("a run keeps the configuration that it was begun with", "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  {
    Pacml launch(place.launch({"--set", "impala.discount=0.5", "--set", "actor.unroll_length=7"}));
    place.work.wait_for_decisions(2'000);
    // What becomes of the file is no matter of roles that are started again.
    std::ofstream(place.work.config_file()) << "impala: {discount: 0.25}\n";
    REQUIRE(::kill(place.roles("learner").at(0), SIGKILL) == 0);
    wait_until("a second learner goes on",
               [&] { return place.work.log("learner").find("resumed from") != std::string::npos; });
    place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
    launch.signal(SIGTERM);
    CHECK(launch.end() == 0);
  }
  // Nor need what was said be said again.
  Words words = place.launch({"--resume"});
  words.erase(words.begin() + 1);
  Pacml resumed(words);
  place.work.wait_for_decisions(place.work.latest("decisions") + 2'000);
  resumed.signal(SIGTERM);
  CHECK(resumed.end() == 0);
  const std::string kept = text_of(fs::path(place.work.run()) / "config.yaml");
  CHECK_THAT(kept, Catch::Contains("discount: 0.5") && Catch::Contains("unroll_length: 7"));
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(place.work / "tmp")) {
    left += entry.path().filename().string().starts_with("pacml-config.") ? 1 : 0;
  }
  CHECK(left == 0);
}

TEST_CASE("roles are told how many actors there are", "[integration][launch]") {
  const Place place;
  const testing::Outcome all = testing::pacml(place.launch({"--dry-run"}));
  CHECK_THAT(all.out, Catch::Contains("\nactors: 2\n"));
  const testing::Outcome one = testing::pacml(place.launch({"--dry-run", "--actors", "1"}));
  CHECK_THAT(one.out, Catch::Contains("\nactors: 1\n"));
}

TEST_CASE("what a host refuses ends the launch with its code", "[integration][launch]") {
  const Place place;
  place.use_stand_in();
  Pacml launch(place.launch({"--resume"}));  // there is nothing to resume
  CHECK(launch.end() == 2);
  CHECK_THAT(launch.err(),
             Catch::Contains("learner ended with code 2: ") && Catch::Contains("holds no run"));
  CHECK_THAT(place.work.log("learner"), Catch::Contains("holds no run"));
}

// An sshd of our own on loopback, with keys that live as long as the test.
class Sshd {
 public:
  static constexpr const char* kProgram = "/usr/sbin/sshd";
  static bool possible() {
    return ::geteuid() == 0 && fs::exists(kProgram) && fs::exists("/usr/bin/ssh-keygen");
  }

  Sshd() : port_(std::to_string(testing::sixteen_ports())) {
    fs::create_directories("/run/sshd");
    for (const char* key : {"host_key", "user_key"}) {
      const auto made = testing::run(
          {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder_ / key});
      INFO(made.err);
      REQUIRE(made.code == 0);
    }
    fs::copy_file(folder_ / "user_key.pub", folder_ / "authorized");
    const std::string at = folder_.path().string() + "/";
    std::ofstream(folder_ / "sshd_config")
        << "ListenAddress 127.0.0.1:" << port_ << "\nHostKey " << at
        << "host_key\nAuthorizedKeysFile " << at << "authorized\nPidFile " << at
        << "pid\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nMaxStartups 100\n";
    std::ofstream(folder_ / "ssh_config") << "Host *\n  Port " << port_ << "\n  IdentityFile " << at
                                          << "user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile "
                                          << at << "known\n  StrictHostKeyChecking accept-new\n";
    server_.emplace(Words{kProgram, "-D", "-e", "-f", folder_ / "sshd_config"});
    wait_until("sshd listens", [this] {
      REQUIRE(server_->runs());
      return server_->err().find("Server listening on") != std::string::npos;
    });
  }
  [[nodiscard]] std::string client_config() const { return folder_ / "ssh_config"; }

 private:
  testing::TempDir folder_;
  std::string port_;
  std::optional<testing::Program> server_;
};

TEST_CASE("a real sshd carries a run from its start to its end", "[integration][launch]") {
  if (!Sshd::possible()) {
    WARN("this test is skipped: a real ssh needs root, and Debian's openssh-server");
    return;
  }
  const Sshd sshd;
  const Place place;
  ::setenv("PATH", "/usr/bin:/bin", 1);
  Pacml launch(
      place.launch({"--site-set", "ssh.options=[\"-F\", \"" + sshd.client_config() + "\"]"}));
  for (const char* actor : {"actor-0", "actor-1"}) {
    wait_until(std::string(actor) + " has joined",
               [&] { return place.work.log(actor).find("joined run run") != std::string::npos; });
  }
  place.work.wait_for_decisions(2'000);

  // A role whose connection breaks is replaced, and is not left behind.
  const auto actors = place.roles("actor");
  REQUIRE(actors.size() == 2);
  const auto connections = place.roles("actor", Who::kClient);
  REQUIRE(connections.size() == 2);
  REQUIRE(::kill(connections[0], SIGKILL) == 0);
  wait_until("another actor has come for it", [&] {
    const auto now = place.roles("actor");
    return now.size() == 2 && now != actors;
  });
  place.wait_for_actors(2);

  launch.signal(SIGTERM);
  const int code = launch.end();
  INFO(place.work.log("learner"));
  CHECK(code == 0);
  place.wait_until_all_ended();
}

}  // namespace
}  // namespace pacml
