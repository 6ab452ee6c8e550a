#include "learner/network_training.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/finite.h"
#include "common/heartbeat.h"

namespace pacml::learner {
namespace {

// What a state holds under a name; something that fits nowhere if it holds nothing.
std::vector<float> vector_of(const AlgorithmState& state, const char* name) {
  const auto found = state.vectors.find(name);
  return found == state.vectors.end() ? std::vector<float>{} : found->second;
}

double real_of(const AlgorithmState& state, const char* name) {
  const auto found = state.reals.find(name);
  return found == state.reals.end() ? std::nan("") : found->second;
}

std::int64_t count_of(const AlgorithmState& state, const char* name) {
  const auto found = state.counts.find(name);
  return found == state.counts.end() ? -1 : found->second;
}

OptimizerState optimizer_of(const AlgorithmState& state) {
  return {count_of(state, "optimizer.steps"), vector_of(state, "optimizer.mean"),
          vector_of(state, "optimizer.mean_square")};
}

ValueNormaliser::State normaliser_of(const AlgorithmState& state) {
  return {real_of(state, "values.mean"), real_of(state, "values.mean_square"),
          real_of(state, "values.weight")};
}

RunPosition run_of(const AlgorithmState& state) {
  return {real_of(state, "run.share"), real_of(state, "run.decisions")};
}

bool is_finite(const ValueNormaliser::State& state) {
  return std::isfinite(state.mean) && std::isfinite(state.mean_square) &&
         std::isfinite(state.weight);
}

void rewrite_heads(const ValueNormaliser::Change& change, const model::ParameterLayout& layout,
                   model::ValueHeads heads, std::span<float> weights) {
  for (const model::ParameterEntry& entry : layout.entries) {
    const bool is_value = entry.name.starts_with("value.");
    const bool is_logit = heads != model::ValueHeads::kValue && entry.name.starts_with("logits.");
    if (!is_value && !is_logit) continue;
    // A shift that all logits have in common is nothing to them.
    const double shift = entry.name == "value.bias" ? change.shift : 0;
    for (float& weight : weights.subspan(entry.offset, entry.size)) {
      weight = static_cast<float>(change.scale * weight + shift);
    }
  }
}

}  // namespace

std::optional<std::vector<float>> folded_weights(const AlgorithmState& state,
                                                 const model::ParameterLayout& layout,
                                                 model::ValueHeads heads) {
  auto weights = vector_of(state, "parameters");
  if (weights.size() != layout.total || !is_finite(normaliser_of(state))) return std::nullopt;
  ValueNormaliser normaliser(1);
  normaliser.restore(normaliser_of(state));
  rewrite_heads(normaliser.to_values(), layout, heads, weights);
  return weights;
}

bool has_moments(const AlgorithmState& state) { return normaliser_of(state).weight > 0; }

void scale_values(double factor, const model::ParameterLayout& layout, model::ValueHeads heads,
                  std::span<float> weights) {
  rewrite_heads({.scale = factor}, layout, heads, weights);
}

NetworkTraining::NetworkTraining(model::TrainableNetwork& network, const OptimizerConfig& optimizer,
                                 double popart_rate, model::ValueHeads heads, bool centres_rewards)
    : network_(&network),
      optimizer_(optimizer, network.layout().total),
      normaliser_(popart_rate),
      heads_(heads),
      centres_rewards_(centres_rewards) {
  if (heads != model::ValueHeads::kActions) return;
  // The value is the same for all states: its bias.
  for (const model::ParameterEntry& entry : network.layout().entries) {
    if (entry.name != "value.weight") continue;
    std::ranges::fill(network.parameters().subspan(entry.offset, entry.size), 0.0F);
  }
  network.hold_value();
}

RunPosition NetworkTraining::run_position() const {
  if (share_done_) return run_before_.after(*share_done_);
  const auto since = static_cast<double>(decisions_ - decisions_before_);
  return {run_before_.share, run_before_.decisions + since};
}

void NetworkTraining::take_in_values(const TargetSums& targets) {
  rewrite_heads(normaliser_.update(targets), network_->layout(), heads_, network_->parameters());
}

void NetworkTraining::take_in_rewards(const RewardSums& rewards) {
  if (centres_rewards_) reward_rate_.take_in(rewards);
}

void NetworkTraining::begin_update() {
  PACML_CHECK(!begun_, "one update at a time");
  begun_ = true;
  const auto weights = std::as_const(*network_).parameters();
  weights_before_.assign(weights.begin(), weights.end());
  optimizer_before_ = optimizer_.state();
  values_before_ = normaliser_.state();
  reward_rate_before_ = reward_rate_;
}

void NetworkTraining::abandon_update() {
  if (begun_) undo();
}

void NetworkTraining::undo() {
  begun_ = false;
  std::ranges::copy(weights_before_, network_->parameters().begin());
  optimizer_.restore(optimizer_before_);
  normaliser_.restore(values_before_);
  reward_rate_ = reward_rate_before_;
}

Optimizer::Step NetworkTraining::step(std::span<const float> gradient, double learning_rate) {
  beat();  // an update of many steps goes on
  const std::span<float> weights = network_->parameters();
  auto step = optimizer_.step(weights, gradient, learning_rate);
  step.applied = step.applied && all_finite(weights) && optimizer_.is_finite();
  return step;
}

Outcome NetworkTraining::end_update(bool sound, std::int64_t decisions) {
  if (!sound || !all_finite(folded().values) || !reward_rate_.is_finite()) {
    undo();
    return Outcome::kDiverged;
  }
  begun_ = false;
  ++updates_;
  decisions_ += decisions;
  return Outcome::kApplied;
}

model::Parameters NetworkTraining::raw() const {
  const auto weights = std::as_const(*network_).parameters();
  return {version(), network_->layout().hash, {weights.begin(), weights.end()}};
}

model::Parameters NetworkTraining::folded() const {
  model::Parameters out = raw();
  rewrite_heads(normaliser_.to_values(), network_->layout(), heads_, out.values);
  return out;
}

AlgorithmState NetworkTraining::save(std::string_view algorithm) const {
  const auto weights = std::as_const(*network_).parameters();
  const OptimizerState& optimizer = optimizer_.state();
  const ValueNormaliser::State normaliser = normaliser_.state();
  AlgorithmState out;
  out.algorithm = algorithm;
  out.vectors["parameters"] = {weights.begin(), weights.end()};
  out.vectors["optimizer.mean"] = optimizer.mean;
  out.vectors["optimizer.mean_square"] = optimizer.mean_square;
  const RunPosition run = run_position();
  out.reals["run.share"] = run.share;
  out.reals["run.decisions"] = run.decisions;
  out.reals["values.mean"] = normaliser.mean;
  out.reals["values.mean_square"] = normaliser.mean_square;
  out.reals["values.weight"] = normaliser.weight;
  out.counts["updates"] = updates_;
  out.counts["decisions"] = decisions_;
  out.counts["optimizer.steps"] = optimizer.steps;
  if (centres_rewards_) reward_rate_.save(out);
  return out;
}

Result<void> NetworkTraining::fits(std::string_view algorithm, const AlgorithmState& state) const {
  if (state.algorithm != algorithm) {
    return fail(Errc::kVersionMismatch, "the checkpoint is of the algorithm '" + state.algorithm +
                                            "', not of " + std::string(algorithm));
  }
  const auto differs = [](const char* what) {
    return fail(Errc::kVersionMismatch,
                std::string("the checkpoint's ") + what + " is not that of this configuration");
  };
  if (vector_of(state, "parameters").size() != network_->layout().total) return differs("network");
  if (!optimizer_.fits(optimizer_of(state))) return differs("optimizer");
  if (!is_finite(normaliser_of(state))) return differs("value normalisation");
  if (centres_rewards_ && !RewardRate::saved_in(state).is_finite()) {
    return differs("average reward");
  }
  if (count_of(state, "updates") < 0 || count_of(state, "decisions") < 0) {
    return differs("list of counters");
  }
  const RunPosition run = run_of(state);
  if (!(run.share >= 0) || !(run.decisions >= 0)) return differs("place in its schedules");
  return {};
}

void NetworkTraining::restore(std::string_view algorithm, const AlgorithmState& state) {
  PACML_CHECK(fits(algorithm, state), "a state that fits");
  std::ranges::copy(vector_of(state, "parameters"), network_->parameters().begin());
  optimizer_.restore(optimizer_of(state));
  normaliser_.restore(normaliser_of(state));
  if (centres_rewards_) reward_rate_ = RewardRate::saved_in(state);
  updates_ = count_of(state, "updates");
  decisions_ = count_of(state, "decisions");
  run_before_ = run_of(state);
  decisions_before_ = decisions_;
  share_done_.reset();
  begun_ = false;
}

}  // namespace pacml::learner
