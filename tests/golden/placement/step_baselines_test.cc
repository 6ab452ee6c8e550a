// The baselines that REINFORCE learns with, on the returns of recorded training.

#include "learner/step_baselines.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace pacml::learner {
namespace {

TEST_CASE("baselines are those of the reference's training, where present", "[golden][placement]") {
  std::size_t compared = 0;
  for (const auto& file : testing::recordings_in(
           testing::source_path("").parent_path().parent_path() / "shared" / "golden_placement")) {
    const auto recorded = testing::read_json(file);
    if (recorded.at("format") != "pacml-placement-training/1") continue;
    INFO(file.filename().string());
    StepBaselines baselines(recorded.at("settings").at("baseline_window").get<std::size_t>(), 100);
    for (const auto& update : recorded.at("updates")) {
      const auto& returns = update.at("returns");
      for (std::uint32_t step = 0; step < returns.size(); ++step) {
        const double baseline = baselines.take_in({{0}, step}, returns[step].get<float>());
        const double wanted = update.at("baseline").at(step).get<double>();
        CHECK(baseline == Approx(wanted).epsilon(1e-4).margin(1e-7));
        ++compared;
      }
    }
  }
  if (compared == 0) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(compared >= 30);
}

}  // namespace
}  // namespace pacml::learner
