#include "tests/support/program.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/soon.h"

namespace pacml::testing {

Program::Program(const std::vector<std::string>& words, const Environment& environment)
    : name_(std::filesystem::path(words.at(0)).filename()), process_(start(words, environment)) {}

void Program::signal(int number) const { REQUIRE(::kill(pid(), number) == 0); }

int Program::end() {
  const Deadline deadline = soon();
  while (runs()) {
    if (deadline.expired()) {
      for (const auto& [pid, command] : children_of(this->pid()))
        UNSCOPED_INFO("child: " << command);
      FAIL(name_ << " does not end: " << err());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // between two looks
  }
  return process_.poll()->shell_code();
}

apps::ChildProcess Program::start(const std::vector<std::string>& words,
                                  const Environment& environment) const {
  apps::ChildSpec spec;
  spec.name = name_;
  // The shell only parts the two streams, then becomes the program.
  spec.command = {"/bin/sh",
                  "-c",
                  "out=$1; err=$2; shift 2; exec \"$@\" >\"$out\" 2>\"$err\"",
                  "sh",
                  (folder_ / "out").string(),
                  (folder_ / "err").string()};
  spec.command.insert(spec.command.end(), words.begin(), words.end());
  spec.environment = environment;
  auto process = apps::ChildProcess::spawn(spec);
  REQUIRE(process);
  return *std::move(process);
}

std::vector<std::pair<pid_t, std::string>> children_of(pid_t parent) {
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

bool is_gone(pid_t process) {
  const std::string stat = text_of("/proc/" + std::to_string(process) + "/stat");
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

Outcome run(const std::vector<std::string>& words, const Environment& environment) {
  Program program(words, environment);
  const int code = program.end();
  std::string err = program.err();
  UNSCOPED_INFO("stderr of " << words.front() << ": " << err);  // for the next assertion alone
  return {code, program.out(), std::move(err)};
}

}  // namespace pacml::testing
