#include "learner/returns/vtrace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::learner {
namespace {

struct Streams {
  std::vector<SequenceRange> sequences;
  std::vector<float> log_rhos, discounts, elapsed, rewards, values, next_values;
  std::vector<std::uint8_t> ends;

  [[nodiscard]] VtraceInputs inputs() const {
    return {sequences, log_rhos, discounts, elapsed, rewards, values, next_values, ends};
  }
};

// Terminated and truncated steps both occur; a truncated one leads to a state of its own. Sequences
// differ in length, and steps in how long they take.
Streams random_streams(Rng& rng, std::size_t longest, std::size_t count) {
  Streams s;
  const auto draw = [&rng](double low, double high) {
    return static_cast<float>(low + (high - low) * rng.uniform());
  };
  for (; count > 0; --count) {
    const SequenceRange sequence{s.rewards.size(), 1 + rng.below(longest)};
    s.sequences.push_back(sequence);
    for (std::size_t t = 0; t < sequence.length; ++t) {
      s.log_rhos.push_back(draw(-2, 2));
      s.rewards.push_back(draw(-1, 1));
      s.values.push_back(draw(-3, 3));
      const double kind = rng.uniform();
      const bool terminated = kind < 0.1;
      const bool truncated = !terminated && kind < 0.2;
      s.elapsed.push_back(rng.below(2) == 0 ? 1.0F : draw(0, 3));
      const double discount = std::pow(0.95, double{s.elapsed.back()});
      s.discounts.push_back(terminated ? 0.0F : static_cast<float>(discount));
      s.ends.push_back(terminated || truncated ? 1 : 0);
    }
    for (std::size_t t = 0; t < sequence.length; ++t) {
      const std::size_t i = sequence.first + t;
      const bool last = t + 1 == sequence.length;
      s.next_values.push_back(last || s.ends[i] != 0 ? draw(-3, 3) : s.values[i + 1]);
    }
  }
  return s;
}

// The definition, eq. 1 of the paper: for each start s the whole sum over t >= s,
//   v_s = V_s + sum_t gamma^(t-s) (prod_{s <= i < t} c_i) rho_t (r_t + gamma V_{t+1} - V_t),
// where the sum stops after the first step that ends an episode.
VtraceReturns by_definition(const Streams& in, const VtraceConfig& config) {
  const std::vector<float> zeros(in.rewards.size());
  VtraceReturns out{.targets = zeros, .advantages = zeros, .ratios = zeros};
  const auto ratio = [&](std::size_t i) { return std::exp(static_cast<double>(in.log_rhos[i])); };
  const auto target = [&](std::size_t s, std::size_t end) {
    double sum = in.values[s];
    double product = 1;
    for (std::size_t i = s; i < end; ++i) {
      const double rho = std::min(config.clip_rho, ratio(i));
      const double delta =
          in.rewards[i] + in.discounts[i] * double{in.next_values[i]} - in.values[i];
      sum += product * rho * delta;
      if (in.ends[i] != 0) break;
      const double lambda = config.lambda_per == LambdaUnit::kTime
                                ? std::pow(config.lambda, double{in.elapsed[i]})
                                : config.lambda;
      product *= in.discounts[i] * lambda * std::min(config.clip_c, ratio(i));
    }
    return sum;
  };
  for (const auto& [first, length] : in.sequences) {
    const std::size_t end = first + length;
    for (std::size_t i = first; i < end; ++i) {
      const bool cut = i + 1 == end || in.ends[i] != 0;
      const double next = cut ? double{in.next_values[i]} : target(i + 1, end);
      out.targets[i] = static_cast<float>(target(i, end));
      const double clipped = std::min(config.clip_advantage, ratio(i));
      out.ratios[i] = static_cast<float>(clipped);
      out.advantages[i] =
          static_cast<float>(clipped * (in.rewards[i] + in.discounts[i] * next - in.values[i]));
    }
  }
  return out;
}

TEST_CASE("V-trace equals its definition, whatever the clips, lambda and episode ends",
          "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 40));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  const Streams streams = random_streams(rng, 40, 1 + rng.below(5));
  VtraceConfig config;
  config.clip_c = 0.5 + rng.uniform();
  config.clip_rho = config.clip_c + rng.uniform();
  config.clip_advantage = 0.5 + 2 * rng.uniform();
  config.lambda = seed % 3 == 0 ? 1.0 : rng.uniform();
  if (seed % 2 == 0) config.lambda_per = LambdaUnit::kTime;
  const VtraceReturns actual = vtrace(streams.inputs(), config);
  const VtraceReturns expected = by_definition(streams, config);
  for (std::size_t i = 0; i < streams.rewards.size(); ++i) {
    INFO("i " << i);
    REQUIRE(actual.targets[i] == Approx(expected.targets[i]).margin(2e-5));
    REQUIRE(actual.advantages[i] == Approx(expected.advantages[i]).margin(2e-5));
    REQUIRE(actual.ratios[i] == Approx(expected.ratios[i]));
  }
}

TEST_CASE("on policy, V-trace targets are the n-step returns", "[property][learner]") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 10));
  INFO("seed " << seed);
  Rng rng(Seed{seed});
  Streams streams = random_streams(rng, 20, 3);
  std::ranges::fill(streams.log_rhos, 0.0F);
  const VtraceReturns out = vtrace(streams.inputs(), VtraceConfig{});
  for (const auto& [first, length] : streams.sequences) {
    double ahead = 0;
    for (std::size_t i = first + length; i-- > first;) {
      const bool cut = i + 1 == first + length || streams.ends[i] != 0;
      ahead = streams.rewards[i] +
              streams.discounts[i] * (cut ? double{streams.next_values[i]} : ahead);
      REQUIRE(out.targets[i] == Approx(ahead).margin(2e-5));
    }
  }
}

}  // namespace
}  // namespace pacml::learner
