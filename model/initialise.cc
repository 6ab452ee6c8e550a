#include "model/initialise.h"

#include <cmath>
#include <cstdint>
#include <string_view>

#include "common/rng.h"
#include "model/layout.h"

namespace pacml::model {
namespace {

constexpr double kHeadScale = 0.01;

bool is_head(std::string_view name) {
  return name.starts_with("logits.") || name.starts_with("value.");
}

// By how the layer's name ends: before that stand names of the task's graphs.
bool is_norm(std::string_view name) {
  return name.ends_with("_norm.weight") || name.ends_with("_norm.bias");
}

}  // namespace

Parameters initialise(const NetworkShape& shape, Seed seed) {
  const ParameterLayout layout = make_layout(shape);
  Parameters parameters{PolicyVersion{0}, layout.hash, std::vector<float>(layout.total)};
  double bound = 0;  // of the linear layer that is being filled: its bias follows its weight
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const ParameterEntry& entry = layout.entries[i];
    const std::span<float> values = view(parameters, layout, entry.name);
    if (is_norm(entry.name)) {
      const bool scale = entry.name.ends_with(".weight");
      for (float& value : values) value = scale ? 1.0F : 0.0F;
      continue;
    }
    if (entry.shape.size() == 2) {
      bound = 1.0 / std::sqrt(static_cast<double>(entry.shape[1]));
      if (is_head(entry.name)) bound *= kHeadScale;
    }
    Rng rng(derive(seed, Purpose::kInitialise, i));
    for (float& value : values) value = static_cast<float>(bound * (2.0 * rng.uniform() - 1.0));
  }
  return parameters;
}

}  // namespace pacml::model
