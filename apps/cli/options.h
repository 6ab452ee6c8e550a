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

struct OptionSpec {
  std::string name;         // "--run", or "CONFIG" for a positional argument
  std::string placeholder;  // "DIR"; empty for flags and positional arguments
  std::string help;
  OptionTarget target;
  bool required = false;
};

// What a command takes, as data: declared by the command, parsed by cli/parse.h. Thread-confined.
class Options {
 public:
  // A word without dashes; filled in order of declaration.
  void argument(std::string name, OptionTarget target, std::string help) {
    specs_.push_back({std::move(name), "", std::move(help), target, true});
  }
  void optional_argument(std::string name, OptionTarget target, std::string help) {
    specs_.push_back({std::move(name), "", std::move(help), target, false});
  }
  // `usage` is "--run DIR", or "--resume" alone for a flag.
  void option(const std::string& usage, OptionTarget target, std::string help) {
    add(usage, target, std::move(help), false);
  }
  void required_option(const std::string& usage, OptionTarget target, std::string help) {
    add(usage, target, std::move(help), true);
  }
  [[nodiscard]] const std::vector<OptionSpec>& specs() const { return specs_; }

 private:
  void add(const std::string& usage, OptionTarget target, std::string help, bool required) {
    const auto space = usage.find(' ');
    specs_.push_back({usage.substr(0, space),
                      space == std::string::npos ? "" : usage.substr(space + 1), std::move(help),
                      target, required});
  }

  std::vector<OptionSpec> specs_;
};

}  // namespace pacml::apps
