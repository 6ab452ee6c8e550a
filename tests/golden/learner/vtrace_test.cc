#include "learner/returns/vtrace.h"

#include <vector>

#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

// Computed by two independent programs, which agree to 1e-16: gamma 0.997, every clip 1, one stream
// of five steps whose third ends an episode.
TEST_CASE("V-trace gives the published formula's numbers", "[golden][learner]") {
  const std::vector<float> log_mu = {-1.2F, -0.7F, -2.3F, -0.1F, -1.6F};
  const std::vector<float> log_pi = {-0.9F, -1.1F, -0.4F, -0.3F, -2.0F};
  const std::vector<float> rewards = {1, -1, 1, 0.5F, -0.25F};
  const std::vector<std::uint8_t> done = {0, 0, 1, 0, 0};
  const std::vector<float> values = {0.3F, -0.2F, 0.8F, 0.1F, 0.45F};
  const float bootstrap = 0.6F;
  const std::vector<double> expected_targets = {0.93225689, -0.067946951, 1.0, 0.739114436,
                                                0.381761419};
  const std::vector<double> expected_advantages = {0.63225689, 0.132053049, 0.2, 0.639114436,
                                                   -0.068238581};
  std::vector<float> log_rhos;
  std::vector<float> discounts;
  std::vector<float> next_values;
  for (std::size_t t = 0; t < 5; ++t) {
    log_rhos.push_back(log_pi[t] - log_mu[t]);
    discounts.push_back(done[t] != 0 ? 0.0F : 0.997F);
    next_values.push_back(t + 1 < 5 ? values[t + 1] : bootstrap);
  }
  const std::vector<SequenceRange> sequences = {{0, 5}};
  const VtraceReturns out = vtrace({.sequences = sequences,
                                    .log_rhos = log_rhos,
                                    .discounts = discounts,
                                    .elapsed = std::vector<float>(5, 1.0F),
                                    .rewards = rewards,
                                    .values = values,
                                    .next_values = next_values,
                                    .ends = done},
                                   VtraceConfig{});
  for (std::size_t t = 0; t < 5; ++t) {
    INFO("t " << t);
    REQUIRE(out.targets[t] == Approx(expected_targets[t]).margin(1e-6));
    REQUIRE(out.advantages[t] == Approx(expected_advantages[t]).margin(1e-6));
  }
}

}  // namespace
}  // namespace pacml::learner
