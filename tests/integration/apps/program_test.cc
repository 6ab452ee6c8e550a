// The built pacml, as a user meets it.

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/version.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/script_file.h"

namespace fs = std::filesystem;

namespace {

struct Outcome {
  int code = 0;
  std::string output;  // stdout and stderr
};

// As a shell does.
Outcome run(const std::string& command) {
  const auto ended = pacml::testing::run({"/bin/sh", "-c", command + " 2>&1"});
  return {ended.code, ended.out};
}

std::string program() { return pacml::testing::pacml_path(); }

// pacml alone in a folder, with whatever a test puts beside it; gone after the test.
class Installation {
 public:
  Installation() { fs::copy_file(program(), folder_ / "pacml"); }
  void add_script(const std::string& name, const std::string& text) const {
    pacml::testing::write_script(folder_ / name, "#!/bin/sh\n" + text);
  }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }

 private:
  pacml::testing::TempDir folder_;
};

}  // namespace

TEST_CASE("pacml tells its version") {
  CHECK(run(program() + " --version").output == "pacml " + pacml::apps::version() + "\n");
  const Outcome outcome = run(program() + " version");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output,
             Catch::StartsWith("pacml " + pacml::apps::version() + "\n") &&
                 (Catch::Contains("LibTorch ") || Catch::Contains("without LibTorch")));
}

TEST_CASE("pacml lists the tasks that a configuration may be about") {
  const Outcome help = run(program() + " help");
  CHECK(help.code == 0);
  CHECK_THAT(help.output,
             Catch::StartsWith("pacml: trains policies for the tasks below") &&
                 Catch::Contains("\nTasks, by env.task of a configuration:\n  partitioning "));
}

TEST_CASE("pacml answers mistakes with one line and exit code 2") {
  const Outcome outcome = run(program() + " vesrion");
  CHECK(outcome.code == 2);
  CHECK(outcome.output == "pacml: there is no command 'vesrion'; did you mean 'version'?\n");
  CHECK(run(program() + " version --loud").code == 2);
}

TEST_CASE("graphs lists the models of a folder, and blames the line of a broken one") {
  const Installation folder;
  fs::create_directories(folder.folder() / "tiny");
  const fs::path file = folder.folder() / "tiny" / "graph.txt";
  std::ofstream(file) << "node1 -- Linear -- forward_compute_time=1.0, backward_compute_time=2.0, "
                         "activation_size=1000, parameter_size=500\n";
  const std::string command = program() + " graphs --profiles " + folder.folder().string();
  const Outcome good = run(command);
  CHECK(good.code == 0);
  CHECK_THAT(good.output, Catch::Contains("tiny"));
  std::ofstream(file, std::ios::app) << "node2 -- Linear\n";
  const Outcome bad = run(command);
  CHECK(bad.code == 2);
  CHECK_THAT(bad.output, Catch::Contains(file.string()) && Catch::Contains("2"));
}

TEST_CASE("trace refuses what is no recording, with the file's name") {
  const Installation folder;
  const fs::path file = folder.folder() / "run.json";
  std::ofstream(file) << "{\"config\": ";
  const Outcome outcome = run(program() + " trace " + file.string() + " --out /dev/null");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.output, Catch::Contains(file.string() + ": it is no JSON document"));
}

TEST_CASE("every listed command has a help text with examples") {
  const std::string overview = run(program() + " --help").output;
  std::istringstream lines(overview.substr(overview.find("Commands:\n") + 10));
  int commands = 0;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const Outcome help = run(program() + " " + name + " --help");
    INFO(name << ": " << help.output);
    if (help.output.find("pacml-learner: No such file") != std::string::npos) continue;
    CHECK(help.code == 0);
    CHECK_THAT(help.output, Catch::Contains("pacml " + name));
    CHECK_THAT(help.output, Catch::Contains("Examples:"));
    ++commands;
  }
  CHECK(commands >= 15);  // also where there is no LibTorch
}

TEST_CASE("the learner's commands go to the program beside pacml, with one mathematical thread") {
  const Installation installation;
  installation.add_script(
      "pacml-learner",
      "echo \"$@\" $OPENBLAS_NUM_THREADS $OMP_NUM_THREADS $OMP_WAIT_POLICY; exit 6");
  const fs::path link = installation.folder() / "link";
  fs::create_symlink(installation.folder() / "pacml", link);
  const Outcome outcome = run("OMP_NUM_THREADS=8 " + link.string() + " learner a.yaml --run 'r s'");
  CHECK(outcome.output == "learner a.yaml --run r s 1 1 passive\n");
  CHECK(outcome.code == 6);
}

TEST_CASE("a signal ends a command that is the first process of its container") {
  namespace testing = pacml::testing;
  std::vector<std::string> container = {"unshare", "--pid", "--fork", "--kill-child"};
  if (::geteuid() != 0) container.insert(container.begin() + 1, {"--user", "--map-root-user"});
  std::vector<std::string> nothing = container;
  nothing.emplace_back("true");
  if (testing::run(nothing).code != 0) {
    WARN("this test is skipped: this process may make no process the first of its kind");
    return;
  }
  const testing::Workplace place;
  // One of those that have nothing to do at a signal; it takes hours.
  testing::Pacml eval(
      {"eval", place.config_file(), "--policy", "random", "--seeds", "1000000", "--threads", "1"},
      container);
  testing::wait_until("it has ended", [&] {
    // `unshare` passes nothing on. What comes before the program has begun has no effect.
    for (const auto& [process, words] : testing::children_of(eval.pid())) {
      ::kill(process, SIGTERM);
    }
    return !eval.runs();
  });
  CHECK(eval.end() == 128 + SIGTERM);
}

TEST_CASE("a pacml built without LibTorch says what is missing") {
  const Installation installation;
  const Outcome outcome = run((installation.folder() / "pacml").string() + " export x");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.output,
             Catch::Contains("pacml-learner") && Catch::Contains("PACML_WITH_TORCH"));
}
