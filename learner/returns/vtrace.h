#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "learner/sequence_range.h"

namespace pacml::learner {

// What lambda is of: it is to the power of how many of them a step takes.
enum class LambdaUnit {
  kDecision,  // every decision, as TD(lambda)
  kTime,  // a unit of elapsed time, as the discount: for tasks whose decisions take unequal time
};
constexpr auto enum_names(LambdaUnit) {
  return std::to_array<EnumName<LambdaUnit>>(
      {{"decision", LambdaUnit::kDecision}, {"time", LambdaUnit::kTime}});
}

struct VtraceConfig {
  double clip_rho = 1.0;        // rho-bar: bounds how far the fixed point moves from mu; > 0
  double clip_c = 1.0;          // c-bar: bounds how far corrections travel; 0 < c-bar <= rho-bar
  double clip_advantage = 1.0;  // rho-bar of the policy gradient; > 0
  double lambda = 1.0;          // scales every c, as in TD(lambda); from 0 to 1
  LambdaUnit lambda_per = LambdaUnit::kDecision;
  bool operator==(const VtraceConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, VtraceConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("clip_rho", c.clip_rho);
  v("clip_c", c.clip_c);
  v("clip_advantage", c.clip_advantage);
  v("lambda", c.lambda);
  v("lambda_per", c.lambda_per);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const VtraceConfig& config);

// D decisions, in sequences that have nothing to do with one another; every span but the first is
// [D], and all are borrowed for the call.
struct VtraceInputs {
  // One after the other, all decisions. T, below, is the length of one of them.
  std::span<const SequenceRange> sequences;
  std::span<const float> log_rhos;   // log pi(a|x) - log mu(a|x); clamped to +-20 before exp
  std::span<const float> discounts;  // gamma^elapsed * (1 - terminated)
  std::span<const float> elapsed;    // time that each step took; >= 0
  std::span<const float> rewards;
  std::span<const float> values;  // V(x_t)
  // V of the state that step t led to, in the same episode: V(x_{t+1}); where step t was truncated,
  // V of the final observation; at t = T - 1 the bootstrap value.
  std::span<const float> next_values;
  // 1 where step t ended its episode, terminated or truncated: row t + 1 is another episode's, and
  // no correction travels across.
  std::span<const std::uint8_t> ends;
};

struct VtraceReturns {
  std::vector<float> targets;     // v_t, [D]
  std::vector<float> advantages;  // of the policy gradient, [D]: ratios times what is an advantage
  std::vector<float> ratios;      // min(rho-bar_A, pi/mu), [D]
};

// V-trace targets: Espeholt et al. 2018 (arXiv:1802.01561), eq. 1 in its recursive form.
//
//   rho_t = min(rho-bar, pi/mu)      c_t = lambda_t * min(c-bar, pi/mu)
//   v_t   = V_t + rho_t (r_t + gamma_t V_{t+1} - V_t) + gamma_t c_t (v_{t+1} - V_{t+1})
//   A_t   = min(rho-bar_A, pi/mu) (r_t + gamma_t v_{t+1} - V_t)
//
// with lambda_t = lambda, or lambda^elapsed where it is of time, and V_{t+1} = next_values[t].
// v_{t+1} = V_{t+1} at t = T - 1 and where ends[t], which cuts the product of the c there. Computed
// in double, stored as float. Unequal lengths, and sequences that do not follow one another, are a
// bug (PACML_CHECK). Pure. Golden values: tests/golden/learner.
[[nodiscard]] VtraceReturns vtrace(const VtraceInputs& in, const VtraceConfig& config);

}  // namespace pacml::learner
