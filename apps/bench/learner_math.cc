#include "apps/bench/learner_math.h"

#include <chrono>
#include <optional>
#include <sstream>
#include <thread>

#include "apps/cli/files.h"
#include "apps/process/child_process.h"
#include "apps/process/hand_over.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "model/math_environment.h"

namespace pacml::apps {

std::string learner_math() {
  constexpr const char* kNone = "without LibTorch: there is no pacml-learner beside pacml";
  const PrivateFolder scratch("pacml-version");
  model::set_single_threaded_math();
  ChildSpec spec;
  spec.name = "version";
  spec.command = {program_beside_us("pacml-learner").string(), "version"};
  spec.log = scratch / "text";
  auto child = ChildProcess::spawn(spec);
  if (!child) return kNone;
  std::optional<ChildExit> exit;
  while (!(exit = child->poll())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::istringstream lines(read_user_file(spec.log));
  std::string line;
  for (std::string next; std::getline(lines, next);) line = next;  // the last one
  return exit->clean() && line.starts_with("LibTorch") ? line : "pacml-learner " + describe(*exit);
}

}  // namespace pacml::apps
