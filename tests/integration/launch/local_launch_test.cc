// `scripts/launch_local`, as a user runs it.

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "apps/process/child_process.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/source_path.h"

namespace pacml {
namespace {

using testing::children_of;
using testing::text_of;
using testing::wait_until;
using testing::Workplace;

using Words = std::vector<std::string>;

class Script {
 public:
  Script(const Workplace& place, const Words& arguments) : place_(&place) {
    apps::ChildSpec spec;
    spec.name = "launch_local";
    spec.command = {"/bin/bash", testing::source_path("scripts/launch_local").string()};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    spec.environment = {{"PACML", std::string(std::getenv("PACML_BINARY_DIR")) + "/bin/pacml"}};
    spec.log = place / "printed";
    auto process = apps::ChildProcess::spawn(spec);
    REQUIRE(process);
    process_ = *std::move(process);
  }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string printed() const { return text_of(*place_ / "printed"); }
  int end() {
    wait_until("the script ends", [this] { return process_->poll().has_value(); });
    INFO(printed());
    return process_->poll()->shell_code();
  }

 private:
  const Workplace* place_;
  std::optional<apps::ChildProcess> process_;
};

TEST_CASE("scripts/launch_local trains with separate processes, and stops them in order",
          "[integration][launch]") {
  auto config = testing::tiny_config();
  config.learner.checkpoint_seconds = 1e6;  // none between the first and the last
  const Workplace place(config);
  Script script(place, {place.config_file(), "--run", place.run(), "--actors", "2"});
  place.wait_for_decisions(2'000);
  wait_until("both actors are there", [&] { return place.latest("actors") == 2; });
  const auto children = children_of(script.pid());
  CHECK(children.size() == 3);
  const auto before = place.checkpoints();
  REQUIRE(::kill(script.pid(), SIGTERM) == 0);
  CHECK(script.end() == 0);
  CHECK(place.checkpoints().back() > before.back());
  for (const auto& [pid, command] : children) {
    INFO(command);
    CHECK(::kill(pid, 0) != 0);
  }
}

TEST_CASE("scripts/launch_local hands on what it is given, and the run's exit code",
          "[integration][launch]") {
  const Workplace place;
  {
    Script script(
        place, {place.config_file(), "--run=" + place.run(), "--actors=1", "--decisions", "2000"});
    CHECK(script.end() == 0);
    CHECK(place.latest("decisions") >= 2'000);
  }
  Script again(place, {place.config_file(), "--run", place.run()});
  CHECK(again.end() == 2);
  CHECK_THAT(again.printed(), Catch::Contains("already holds a run"));
}

}  // namespace
}  // namespace pacml
