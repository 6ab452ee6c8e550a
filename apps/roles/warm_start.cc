#include "apps/roles/warm_start.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "apps/evaluation/trained_run.h"
#include "common/result.h"
#include "common/try_again.h"
#include "learner/network_training.h"

namespace pacml::apps {
namespace {

// Whether the first targets' moments become the unit of the value heads.
bool starts_values(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
      return config.impala.value_normalisation == learner::ValueNormalisation::kPopArt;
    case AlgorithmKind::kPpo:
    case AlgorithmKind::kExpertIteration:
      return true;
    case AlgorithmKind::kApex:
    case AlgorithmKind::kReinforce:
      return false;
  }
  return false;
}

// The weights that make logits.
std::vector<std::span<float>> logits_of(std::vector<float>& weights,
                                        const model::ParameterLayout& layout) {
  std::vector<std::span<float>> parts;
  for (const model::ParameterEntry& entry : layout.entries) {
    if (!entry.name.starts_with("logits.")) continue;
    parts.push_back(std::span(weights).subspan(entry.offset, entry.size));
  }
  return parts;
}

}  // namespace

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
  return {std::stoi(constant.substr(constant.find(':') + 1)), static_cast<int>(constants.size())};
}

void prefer(const Preferred& preferred, const WarmStartConfig& config,
            const model::ParameterLayout& layout, model::Parameters& parameters) {
  const auto bias = model::view(parameters, layout, "logits.bias");
  bias[static_cast<std::size_t>(preferred.action)] += static_cast<float>(
      std::log(config.probability / (1 - config.probability) * preferred.others));
}

TrainedRun run_to_start_with(const std::filesystem::path& run, const env::Task& task) {
  try {
    return load_trained_run(run, task.spec());
  } catch (const TryAgainError& error) {
    throw TryAgainError(std::string("warm_start.from: ") + error.what());
  } catch (const UserError& error) {
    throw UserError(std::string("warm_start.from: ") + error.what());
  }
}

std::vector<float> policy_to_start_with(const TrainConfig& config, const env::Task& task,
                                        const model::ParameterLayout& layout) {
  const std::filesystem::path run = config.warm_start.from;
  TrainedRun trained = run_to_start_with(run, task);
  std::istringstream warnings(trained.warning);
  for (std::string sentence; std::getline(warnings, sentence);) {
    spdlog::warn("warm_start.from: {}", sentence);
    std::cerr << "warm_start.from: " << sentence << "\n";  // the log of a learner is a file
  }
  if (!model::fits(trained.parameters, layout)) {
    throw UserError("warm_start.from: the policy of " + run.string() +
                    " is of another network than this configuration's");
  }
  if (!trained.valued) {
    throw UserError("warm_start.from: the policy of " + run.string() +
                    " does not say what unit its values are in");
  }
  const bool starts = starts_values(config);
  if (!starts) {
    learner::scale_values(reward_scale_of(config), layout, trained.heads, trained.valued->values);
  }
  auto& weights = (starts ? trained.parameters : *trained.valued).values;
  constexpr float kSmall = 0.01F;
  const bool of_rewards = starts && !trained.has_moments;
  const bool preferences = trained.heads == model::ValueHeads::kValue;
  const bool small_logits =
      heads_of(config) != model::ValueHeads::kValue && (preferences || of_rewards);
  if (of_rewards) learner::scale_values(0, layout, model::ValueHeads::kValue, weights);
  if (!small_logits) return std::move(weights);
  const auto logits = logits_of(weights, layout);
  float largest = 1;
  for (const std::span<const float> part : logits) {
    if (preferences) break;  // rewards alone are of any size
    for (const float weight : part) largest = std::max(largest, std::abs(weight));
  }
  for (const std::span<float> part : logits) {
    for (float& weight : part) weight *= kSmall / largest;
  }
  return std::move(weights);
}

}  // namespace pacml::apps
