#include "env/tasks/python/config.h"

#include "common/result.h"
#include "common/try_again.h"
#include "env/tasks/python/description.h"

namespace pacml::env {

std::vector<std::string> validate(const PythonConfig& c) {
  std::vector<std::string> problems;
  if (c.file.empty() && c.module.empty()) {
    problems.emplace_back(
        "file: the task python needs a file of Python, or a module, that defines its environment");
  }
  if (!c.file.empty() && !c.module.empty()) {
    problems.emplace_back("file: and module are both given, of which one defines the environment");
  }
  if (c.make.empty()) {
    problems.emplace_back("make: names the class, or a function, that makes an environment");
  }
  if (c.interpreter.empty()) problems.emplace_back("interpreter: must name Python's");
  if (!(c.answer_seconds >= Seconds(0.1))) {
    problems.emplace_back("answer_seconds: must be at least 0.1");
  }
  if (!problems.empty()) return problems;
  try {
    static_cast<void>(description_of(c));
  } catch (const TryAgainError&) {
    throw;  // the configuration may be right
  } catch (const UserError& error) {
    problems.push_back(std::string(c.file.empty() ? "module: " : "file: ") + error.what());
  }
  return problems;
}

ObservationSpec observation_spec(const PythonConfig& c) { return description_of(c).observation; }

}  // namespace pacml::env
