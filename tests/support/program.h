#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/process/child_process.h"
#include "tests/support/temp_dir.h"

// How tests run programs.

namespace pacml::testing {

// Variables besides the test's own, or instead.
using Environment = std::vector<std::pair<std::string, std::string>>;

// One process, killed with its owner. What it prints goes to files.
class Program {
 public:
  // A program (a path, or a name that is looked for on PATH) and its arguments. Fails the test
  // where it cannot be started at all; a program that is not there ends with code 127, as in a
  // shell.
  explicit Program(const std::vector<std::string>& words, const Environment& environment = {});

  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  // To this process alone, as `kill PID` does.
  void signal(int number) const;
  [[nodiscard]] bool runs() { return !process_.poll().has_value(); }
  // Waits for its end; the exit code as a shell tells it.
  int end();
  [[nodiscard]] std::string out() const { return text_of(folder_ / "out"); }
  [[nodiscard]] std::string err() const { return text_of(folder_ / "err"); }

 private:
  [[nodiscard]] apps::ChildProcess start(const std::vector<std::string>& words,
                                         const Environment& environment) const;

  std::string name_;
  TempDir folder_;
  apps::ChildProcess process_;
};

// The processes whose parent is `parent`, with their command lines.
[[nodiscard]] std::vector<std::pair<pid_t, std::string>> children_of(pid_t parent);

// Whether a process, not necessarily a child of this one, has ended; nobody may have been told yet.
[[nodiscard]] bool is_gone(pid_t process);

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs a program to its end.
Outcome run(const std::vector<std::string>& words, const Environment& environment = {});

}  // namespace pacml::testing
