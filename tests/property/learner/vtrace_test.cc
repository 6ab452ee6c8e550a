#include "learner/returns/vtrace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

struct Stream {
  std::size_t steps = 0;
  std::size_t batch = 0;
  std::vector<float> log_rhos, discounts, rewards, values, next_values;
  std::vector<std::uint8_t> ends;

  [[nodiscard]] VtraceInputs inputs() const {
    return {steps, batch, log_rhos, discounts, rewards, values, next_values, ends};
  }
};

// Terminated and truncated steps both occur; a truncated one leads to a state of its own.
Stream random_stream(Rng& rng, std::size_t steps, std::size_t batch) {
  Stream s;
  s.steps = steps;
  s.batch = batch;
  const auto draw = [&rng](double low, double high) {
    return static_cast<float>(low + (high - low) * rng.uniform());
  };
  for (std::size_t i = 0; i < steps * batch; ++i) {
    s.log_rhos.push_back(draw(-2, 2));
    s.rewards.push_back(draw(-1, 1));
    s.values.push_back(draw(-3, 3));
    const double kind = rng.uniform();
    const bool terminated = kind < 0.1;
    const bool truncated = !terminated && kind < 0.2;
    s.discounts.push_back(terminated ? 0.0F : 0.95F);
    s.ends.push_back(terminated || truncated ? 1 : 0);
  }
  for (std::size_t i = 0; i < steps * batch; ++i) {
    const bool last = i + batch >= steps * batch;
    s.next_values.push_back(last || s.ends[i] != 0 ? draw(-3, 3) : s.values[i + batch]);
  }
  return s;
}

// The definition, eq. 1 of the paper: for each start s the whole sum over t >= s,
//   v_s = V_s + sum_t gamma^(t-s) (prod_{s <= i < t} c_i) rho_t (r_t + gamma V_{t+1} - V_t),
// where the sum stops after the first step that ends an episode.
VtraceReturns by_definition(const Stream& in, const VtraceConfig& config) {
  VtraceReturns out{std::vector<float>(in.steps * in.batch),
                    std::vector<float>(in.steps * in.batch)};
  const auto ratio = [&](std::size_t i) { return std::exp(static_cast<double>(in.log_rhos[i])); };
  const auto target = [&](std::size_t s, std::size_t b) {
    double sum = in.values[s * in.batch + b];
    double product = 1;
    for (std::size_t t = s; t < in.steps; ++t) {
      const std::size_t i = t * in.batch + b;
      const double rho = std::min(config.clip_rho, ratio(i));
      const double delta =
          in.rewards[i] + in.discounts[i] * double{in.next_values[i]} - in.values[i];
      sum += product * rho * delta;
      if (in.ends[i] != 0) break;
      product *= in.discounts[i] * config.lambda * std::min(config.clip_c, ratio(i));
    }
    return sum;
  };
  for (std::size_t t = 0; t < in.steps; ++t) {
    for (std::size_t b = 0; b < in.batch; ++b) {
      const std::size_t i = t * in.batch + b;
      const bool cut = t + 1 == in.steps || in.ends[i] != 0;
      const double next = cut ? double{in.next_values[i]} : target(t + 1, b);
      out.targets[i] = static_cast<float>(target(t, b));
      out.advantages[i] =
          static_cast<float>(std::min(config.clip_advantage, ratio(i)) *
                             (in.rewards[i] + in.discounts[i] * next - in.values[i]));
    }
  }
  return out;
}

TEST_CASE("V-trace equals its definition, whatever the clips, lambda and episode ends",
          "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 40));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const Stream stream = random_stream(rng, 1 + rng.below(40), 1 + rng.below(5));
  VtraceConfig config;
  config.clip_c = 0.5 + rng.uniform();
  config.clip_rho = config.clip_c + rng.uniform();
  config.clip_advantage = 0.5 + 2 * rng.uniform();
  config.lambda = seed % 3 == 0 ? 1.0 : rng.uniform();
  const VtraceReturns actual = vtrace(stream.inputs(), config);
  const VtraceReturns expected = by_definition(stream, config);
  for (std::size_t i = 0; i < stream.steps * stream.batch; ++i) {
    INFO("i " << i);
    REQUIRE(actual.targets[i] == Approx(expected.targets[i]).margin(2e-5));
    REQUIRE(actual.advantages[i] == Approx(expected.advantages[i]).margin(2e-5));
  }
}

TEST_CASE("on policy, V-trace targets are the n-step returns", "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 10));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  Stream stream = random_stream(rng, 20, 3);
  std::ranges::fill(stream.log_rhos, 0.0F);
  const VtraceReturns out = vtrace(stream.inputs(), VtraceConfig{});
  for (std::size_t b = 0; b < stream.batch; ++b) {
    double ahead = 0;
    for (std::size_t t = stream.steps; t-- > 0;) {
      const std::size_t i = t * stream.batch + b;
      const bool cut = t + 1 == stream.steps || stream.ends[i] != 0;
      ahead =
          stream.rewards[i] + stream.discounts[i] * (cut ? double{stream.next_values[i]} : ahead);
      REQUIRE(out.targets[i] == Approx(ahead).margin(2e-5));
    }
  }
}

}  // namespace
}  // namespace pacml::learner
