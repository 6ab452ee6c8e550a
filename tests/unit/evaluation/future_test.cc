#include "apps/evaluation/future.h"

#include <memory>

#include "common/experience/observations.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::apps {
namespace {

// Costs 1 a unit of time, whatever is decided; action a takes a + 1 units.
class Meter final : public env::Environment {
 public:
  Meter() {
    spec_.task = "meter";
    spec_.observation = plain_spec(1, 3);
  }
  [[nodiscard]] const env::EnvironmentSpec& spec() const override { return spec_; }
  void reset(Seed /*seed*/) override {}
  [[nodiscard]] env::StepResult step(int action) override {
    const float length = static_cast<float>(action) + 1;
    return {.reward = -length, .elapsed = length};
  }
  void observe(Observations& out) const override {
    const float shown[] = {0};
    const std::uint8_t mask[] = {1, 1, 1};
    append_plain(out, 0, shown, mask);
  }
  [[nodiscard]] std::unique_ptr<Environment> clone() const override {
    return std::make_unique<Meter>(*this);
  }
  [[nodiscard]] bool resample_future(Seed /*seed*/) override { return true; }
  [[nodiscard]] EpisodeRecord summary() const override { return {}; }

 private:
  env::EnvironmentSpec spec_;
};

TEST_CASE("nobody's choice is better for decisions that take longer or shorter",
          "[unit][evaluation]") {
  const Meter meter;
  for (const int first : {0, 1, 2}) {
    for (const int second : {0, 1, 2}) {
      INFO(first << " beside " << second);
      const Future mine = follow(
          meter, first, [&](const auto&) { return first; }, 5);
      const Future theirs = follow_beside(mine, meter, second, [&](const auto&) { return second; });
      CHECK(mine.decisions == 5);
      CHECK(mine.reward == -5 * (first + 1));
      CHECK(theirs.elapsed == mine.elapsed);
      CHECK(theirs.reward == Approx(mine.reward));
      CHECK(theirs.decisions == (5 * (first + 1) + second) / (second + 1));
    }
  }
}

}  // namespace
}  // namespace pacml::apps
