#pragma once

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/process/child_process.h"
#include "common/clock.h"
#include "common/config/dump.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

// The built programs, as a user runs them.

namespace pacml::testing {

inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Waits for what another process brings about; the patience is for a machine that is busy.
template <class Condition>
void wait_until(const std::string& what, Condition holds,
                Duration patience = std::chrono::seconds(60)) {
  const Deadline deadline = Deadline::in(patience);
  while (!holds()) {
    INFO("waiting until " << what);
    REQUIRE_FALSE(deadline.expired());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // between two looks at the disk
  }
}

// One pacml process, killed with its owner. What it prints goes to files. `launcher`: words before
// the program that place it somewhere, and become it (VirtualHost::launcher).
class Pacml {
 public:
  explicit Pacml(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& launcher = {})
      : process_(start(arguments, launcher)) {}

  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  // To this process alone, as `kill PID` does.
  void signal(int number) const { REQUIRE(::kill(pid(), number) == 0); }
  [[nodiscard]] bool runs() { return !process_.poll().has_value(); }
  // Waits for its end; the exit code as a shell tells it.
  int end() {
    wait_until("pacml ends", [this] { return !runs(); });
    INFO(err());
    return process_.poll()->shell_code();
  }
  [[nodiscard]] std::string out() const { return text_of(folder_ / "out"); }
  [[nodiscard]] std::string err() const { return text_of(folder_ / "err"); }

 private:
  [[nodiscard]] apps::ChildProcess start(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& launcher) const {
    const char* build = std::getenv("PACML_BINARY_DIR");
    REQUIRE(build != nullptr);
    apps::ChildSpec spec;
    spec.name = "pacml";
    // The shell only parts the two streams, then becomes the program.
    spec.command = {"/bin/sh",
                    "-c",
                    "out=$1; err=$2; shift 2; exec \"$@\" >\"$out\" 2>\"$err\"",
                    "sh",
                    (folder_ / "out").string(),
                    (folder_ / "err").string()};
    spec.command.insert(spec.command.end(), launcher.begin(), launcher.end());
    spec.command.push_back(std::string(build) + "/bin/pacml");
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    auto process = apps::ChildProcess::spawn(spec);
    REQUIRE(process);
    return *std::move(process);
  }

  TempDir folder_;
  apps::ChildProcess process_;
};

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs pacml to its end.
inline Outcome pacml(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& launcher = {}) {
  Pacml process(arguments, launcher);
  const int code = process.end();
  return {code, process.out(), process.err()};
}

// The processes whose parent is `parent`, with their command lines.
inline std::vector<std::pair<pid_t, std::string>> children_of(pid_t parent) {
  std::vector<std::pair<pid_t, std::string>> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // "pid (name) state parent ..."; the name may hold anything.
    const std::string stat = text_of(entry.path() / "stat");
    std::istringstream rest(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
    std::string state;
    pid_t of = 0;
    if (!(rest >> state >> of) || of != parent || state == "Z") continue;
    std::string command = text_of(entry.path() / "cmdline");
    std::ranges::replace(command, '\0', ' ');
    children.emplace_back(std::stoi(name), command);
  }
  return children;
}

// A folder with a tiny configuration and room for runs.
class Workplace {
 public:
  explicit Workplace(const apps::TrainConfig& config = tiny_config()) {
    std::ofstream(config_file()) << dump_config(config);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return folder_ / name;
  }
  [[nodiscard]] std::string config_file() const { return (folder_ / "tiny.yaml").string(); }
  [[nodiscard]] std::string run() const { return (folder_ / "run").string(); }
  // An address of a learner, short enough for the system.
  [[nodiscard]] std::string socket() const { return "ipc://" + (folder_ / "s").string(); }

  [[nodiscard]] std::vector<nlohmann::json> metrics() const {
    std::istringstream text(text_of(folder_ / "run" / "metrics.jsonl"));
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(text, line) && !text.eof();) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }
  // Of the newest line; 0 before there is one.
  [[nodiscard]] std::int64_t latest(const std::string& key) const {
    const auto lines = metrics();
    return lines.empty() ? 0 : lines.back().value(key, std::int64_t{0});
  }
  void wait_for_decisions(std::int64_t count) const {
    wait_until(std::to_string(count) + " decisions are learned from",
               [&] { return latest("decisions") >= count; });
  }
  [[nodiscard]] std::string log(const std::string& role) const {
    return text_of(folder_ / "run" / "logs" / (role + ".log"));
  }
  [[nodiscard]] std::vector<std::string> checkpoints() const {
    std::vector<std::string> names;
    std::error_code absent;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / "run" / "checkpoints", absent)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("checkpoint-")) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  TempDir folder_;
};

}  // namespace pacml::testing
