#include "planning/rollout_policy.h"

#include <algorithm>
#include <utility>

#include "common/experience/observations.h"
#include "common/result.h"
#include "env/feature_check.h"
#include "model/action_distribution.h"
#include "model/duelling.h"
#include "model/fused_policy.h"

namespace pacml::planning {
namespace {

using Environments = std::span<const env::Environment* const>;

class RulePolicy final : public RolloutPolicy {
 public:
  explicit RulePolicy(std::unique_ptr<env::Agent> rule) : rule_(std::move(rule)) {}

  void reset(Seed seed) override { rule_->reset(seed); }
  void act(Environments environments, std::span<int> actions) override {
    for (std::size_t i = 0; i < environments.size(); ++i) {
      actions[i] = rule_->act(*environments[i]);
    }
  }
  void evaluate(Environments /*environments*/, std::span<double> values) override {
    std::ranges::fill(values, 0.0);
  }
  std::vector<float> log_probabilities(const env::Environment& /*environment*/) override {
    return {};
  }

 private:
  std::unique_ptr<env::Agent> rule_;
};

class NetworkPolicy final : public RolloutPolicy {
 public:
  NetworkPolicy(const model::NetworkShape& shape, const model::Parameters& parameters,
                model::ValueHeads heads, std::span<const env::GraphFeaturesPtr> graphs)
      : heads_(heads),
        network_(model::make_fused_policy(shape)),
        batch_(model::input_shape(shape)) {
    network_->set_graphs(graphs);
    network_->set_parameters(parameters);
  }

  void act(Environments environments, std::span<int> actions) override {
    look_at(environments);
    for (std::size_t i = 0; i < environments.size(); ++i) {
      actions[i] = model::best_action(logits_of(i));
    }
  }
  void evaluate(Environments environments, std::span<double> values) override {
    look_at(environments);
    std::ranges::copy(output_.values, values.begin());
    if (heads_ == model::ValueHeads::kValue) return;
    const std::size_t width = batch_.num_candidates();
    q_.resize(output_.logits.size());
    model::duelling_q_values(output_.logits, output_.values, batch_.padded_masks(masks_), width,
                             q_);
    for (std::size_t i = 0; i < environments.size(); ++i) {
      const auto row = std::span<const float>(q_).subspan(i * width, width);
      values[i] = static_cast<double>(row[static_cast<std::size_t>(model::best_valid_action(row))]);
    }
  }
  std::vector<float> log_probabilities(const env::Environment& environment) override {
    const env::Environment* const one[] = {&environment};
    look_at(one);
    std::vector<float> out(output_.logits.size());
    model::log_probabilities(logits_of(0), out);
    return out;
  }

 private:
  void look_at(Environments environments) {
    batch_.clear();
    for (const env::Environment* environment : environments) environment->observe(batch_);
    env::require_finite_features(environments.front()->spec(), batch_);
    network_->evaluate(batch_, output_);
    if (!model::is_sound(output_)) {
      throw UserError("the network says nothing that can be acted upon: its training had diverged");
    }
  }
  [[nodiscard]] std::span<const float> logits_of(std::size_t row) const {
    const std::size_t width = batch_.num_candidates();
    return std::span(output_.logits).subspan(row * width, width);
  }

  model::ValueHeads heads_;
  std::unique_ptr<model::Policy> network_;
  Observations batch_;
  model::PolicyOutput output_;
  std::vector<float> q_;
  std::vector<std::uint8_t> masks_;
};

}  // namespace

std::unique_ptr<RolloutPolicy> make_rule_policy(std::unique_ptr<env::Agent> rule) {
  return std::make_unique<RulePolicy>(std::move(rule));
}

std::unique_ptr<RolloutPolicy> make_network_policy(const model::NetworkShape& shape,
                                                   const model::Parameters& parameters,
                                                   model::ValueHeads heads,
                                                   std::span<const env::GraphFeaturesPtr> graphs) {
  return std::make_unique<NetworkPolicy>(shape, parameters, heads, graphs);
}

}  // namespace pacml::planning
