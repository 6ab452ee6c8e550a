#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"

namespace pacml::apps {

// A command that another program answers, so that a user knows one name.
struct Delegation {
  std::string command;         // "learner"
  std::string first_argument;  // only where the command's first word is this; empty: always
  std::string summary;         // one line of the command list; empty: listed already
};

// What else a person may want to choose from, below the commands.
struct NameList {
  std::string title;                                      // one line
  std::vector<std::pair<std::string, std::string>> rows;  // names, and what each is in one line
};

// A program is a list of commands.
struct Program {
  std::string name;     // "pacml"
  std::string summary;  // one line
  std::string version;  // what --version prints
  std::vector<std::unique_ptr<Command>> commands;
  std::vector<Delegation> delegations;
  // Answers a delegated command, given all arguments; the exit code, if it comes back at all.
  std::function<int(const std::vector<std::string>&)> delegate;
  NameList names{};  // no rows: not shown
  // Called before anything else, where it is given; may throw as a command may.
  std::function<void()> prepare{};
  // May throw for a file that a command must not write (check_outputs).
  std::function<void(const std::filesystem::path&, Writes)> refuse_output{};
};

// Runs the command that `arguments` (without the program's name) ask for. The exit code: the
// command's; 0 after help; 2 after a UserError, whose sentence goes to `err`, or 75 after a
// TryAgainError; 1 after any other exception (common/exit_codes.h). Thread-confined.
[[nodiscard]] int run_program(const Program& program, const std::vector<std::string>& arguments,
                              std::ostream& out, std::ostream& err);

}  // namespace pacml::apps
