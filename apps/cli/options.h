#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pacml::apps {

// Where a parsed value goes: the caller's variable, which outlives the parse and holds the default
// before it. A flag is a bool; a vector collects every repetition.
using OptionTarget =
    std::variant<bool*, std::string*, std::int64_t*, double*, std::optional<std::string>*,
                 std::optional<std::int64_t>*, std::optional<double>*, std::vector<std::string>*>;

// What is written to the path that an option names. A log is appended to, in a folder that need not
// be there.
enum class Writes { kNothing, kFile, kFileOrFolder, kLog };

struct OptionSpec {
  std::string name;         // "--run", or "CONFIG" for a positional argument
  std::string placeholder;  // "DIR"; empty for flags and positional arguments
  std::string help;
  OptionTarget target;
  bool required = false;
  Writes writes = Writes::kNothing;
};

// What a command takes, as data: declared by the command, parsed by cli/parse.h. Thread-confined.
class Options {
 public:
  // A word without dashes; filled in order of declaration.
  void argument(std::string name, OptionTarget target, std::string help) {
    specs_.push_back({std::move(name), "", std::move(help), target, true, Writes::kNothing});
  }
  void optional_argument(std::string name, OptionTarget target, std::string help) {
    specs_.push_back({std::move(name), "", std::move(help), target, false, Writes::kNothing});
  }
  // `usage` is "--run DIR", or "--resume" alone for a flag.
  void option(const std::string& usage, OptionTarget target, std::string help) {
    add(usage, target, std::move(help), false, Writes::kNothing);
  }
  void required_option(const std::string& usage, OptionTarget target, std::string help) {
    add(usage, target, std::move(help), true, Writes::kNothing);
  }
  // A file that the command writes: before it runs, check_outputs() has seen to it.
  void output(const std::string& usage, OptionTarget target, std::string help,
              Writes writes = Writes::kFile) {
    add(usage, target, std::move(help), false, writes);
  }
  void required_output(const std::string& usage, OptionTarget target, std::string help,
                       Writes writes = Writes::kFile) {
    add(usage, target, std::move(help), true, writes);
  }
  [[nodiscard]] const std::vector<OptionSpec>& specs() const { return specs_; }

 private:
  void add(const std::string& usage, OptionTarget target, std::string help, bool required,
           Writes writes) {
    const auto space = usage.find(' ');
    specs_.push_back({usage.substr(0, space),
                      space == std::string::npos ? "" : usage.substr(space + 1), std::move(help),
                      target, required, writes});
  }

  std::vector<OptionSpec> specs_;
};

}  // namespace pacml::apps
