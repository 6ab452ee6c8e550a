#include "apps/roles/warm_start.h"

#include <algorithm>
#include <cmath>

#include "common/result.h"

namespace pacml::apps {

std::vector<std::string> constant_baselines(const env::Task& task) {
  const auto baselines = task.baselines();
  const auto best = std::ranges::find(baselines, "best_constant", &env::Baseline::name);
  if (best == baselines.end() || best->best_of.empty()) {
    throw UserError("warm_start.policy: best_constant needs constant actions to choose from, and " +
                    task.spec().task + " has none; set it to none");
  }
  return best->best_of;
}

Preferred preferred_of(const std::string& constant, const std::vector<std::string>& constants) {
  // Whatever they do where their action is not allowed is an action, too.
  return {constant, std::stoi(constant.substr(constant.find(':') + 1)),
          static_cast<int>(constants.size())};
}

void prefer(const Preferred& preferred, const WarmStartConfig& config,
            const model::ParameterLayout& layout, model::Parameters& parameters) {
  const auto bias = model::view(parameters, layout, "logits.bias");
  bias[static_cast<std::size_t>(preferred.action)] += static_cast<float>(
      std::log(config.probability / (1 - config.probability) * preferred.others));
}

}  // namespace pacml::apps
