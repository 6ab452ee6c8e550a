#include "env/feature_check.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "common/finite.h"
#include "common/result.h"

namespace pacml::env {
namespace {

bool all_finite(const Observations& rows) {
  bool all = true;
  rows.visit_columns([&all](auto column) {
    if constexpr (std::same_as<decltype(column), std::span<const float>>) {
      all = all && pacml::all_finite(column);
    }
  });
  return all;
}

// The place of the first one; none: values.size().
std::size_t first_odd(std::span<const float> values) {
  const auto found = std::ranges::find_if(values, [](float f) { return !std::isfinite(f); });
  return static_cast<std::size_t>(found - values.begin());
}

std::string is(float value) {
  if (std::isnan(value)) return " is nan";
  return value > 0 ? " is inf" : " is -inf";
}

}  // namespace

std::optional<std::string> feature_that_is_not_finite(const ObservationSpec& spec,
                                                      const Observations& rows) {
  if (all_finite(rows)) return std::nullopt;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const auto globals = rows.globals(b);
    if (const std::size_t g = first_odd(globals); g < globals.size()) {
      return "global " + spec.globals[g].name + is(globals[g]);
    }
    const auto candidates = rows.candidates(b);
    if (const std::size_t i = first_odd(candidates); i < candidates.size()) {
      const std::size_t width = spec.candidates.features.size();
      return spec.candidates.features[i % width].name + " of candidate " +
             std::to_string(i / width) + is(candidates[i]);
    }
    for (std::size_t s = 0; s < spec.slots.size(); ++s) {
      const auto features = rows.node_features(b, s);
      const std::size_t i = first_odd(features);
      if (i == features.size()) continue;
      const std::size_t width = spec.slots[s].dynamic_width;
      return "feature " + std::to_string(i % width) + " of node " + std::to_string(i / width) +
             " in slot " + spec.slots[s].name + is(features[i]);
    }
  }
  return std::nullopt;
}

void require_finite_features(const EnvironmentSpec& spec, const Observations& rows) {
  if (const auto feature = feature_that_is_not_finite(spec.observation, rows)) {
    throw UserError("the task " + spec.task + " shows a decision whose " + *feature +
                    ": features must be finite");
  }
}

float finite_reward(std::string_view task, double reward) {
  if (!(std::abs(reward) <= std::numeric_limits<float>::max())) {
    throw UserError("the task " + std::string(task) + " gave a reward that is not finite");
  }
  return static_cast<float>(reward);
}

}  // namespace pacml::env
