#pragma once

#include <string>
#include <vector>

#include "apps/cli/options.h"

namespace pacml::apps {

struct Example {
  std::string line;     // as typed, without the program's name: "train configs/quickstart.yaml ..."
  std::string meaning;  // what it does, in a few words
};

// What a person reads about a command.
struct CommandText {
  std::string name;     // "train"
  std::string summary;  // one line of the command list
  std::vector<Example> examples;
};

// One command of a program: one file below apps/commands/, named in its program's main file. An
// object is used once: declare, parse, run. Thread-confined.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual CommandText text() const = 0;
  // Binds the object's members to options.
  virtual void declare(Options& options) = 0;
  // The exit code. UserError: what the user can mend; anything else is a bug of ours.
  [[nodiscard]] virtual int run() = 0;
};

}  // namespace pacml::apps
