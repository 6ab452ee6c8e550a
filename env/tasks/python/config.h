#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/config/seconds.h"
#include "common/experience/observation_spec.h"

namespace pacml::env {

// The Python task: whatever an environment that somebody wrote in Python decides (docs/python.md).
struct PythonConfig {
  std::string file;    // a .py file that defines `make`; or, where it is empty,
  std::string module;  // a module or package that does, as Python's import finds it
  std::string make;    // a class or a function: called with `settings`, it makes an environment
  // Keyword arguments of `make`: each as JSON reads it, or the text itself; nullopt: None.
  std::map<std::string, std::optional<std::string>> settings;
  std::string interpreter = "python3";  // a path, or a name that PATH has
  // An environment that takes longer over a step ends the run, with a sentence. While an actor
  // waits for its answer, it does not count as one that hangs.
  Seconds answer_seconds = 20;
  bool operator==(const PythonConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PythonConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("file", c.file);
  v("module", c.module);
  v("make", c.make);
  v("settings", c.settings);
  v("interpreter", c.interpreter);
  v("answer_seconds", c.answer_seconds);
}
template <class Visitor>
void visit_paths(PythonConfig& c, Visitor&& v) {
  v(c.file);
}
// Also what Python says to it: this runs the file. TryAgainError: Python ends over it.
[[nodiscard]] std::vector<std::string> validate(const PythonConfig& c);

// Pre: validate() finds no problem.
[[nodiscard]] ObservationSpec observation_spec(const PythonConfig& c);

}  // namespace pacml::env
