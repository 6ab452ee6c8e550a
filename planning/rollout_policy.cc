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
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& /*environment*/) override {
    return std::nullopt;
  }

 private:
  std::unique_ptr<env::Agent> rule_;
};

class NetworkPolicy final : public RolloutPolicy {
 public:
  NetworkPolicy(model::Policy& network, const ObservationShape& inputs, model::ValueHeads heads)
      : heads_(heads), network_(&network), batch_(inputs) {}
  NetworkPolicy(std::unique_ptr<model::Policy> network, const ObservationShape& inputs,
                model::ValueHeads heads)
      : NetworkPolicy(*network, inputs, heads) {
    own_ = std::move(network);
  }

  void act(Environments environments, std::span<int> actions) override {
    // Who has no choice need not ask.
    batch_.clear();
    asked_.clear();
    for (std::size_t i = 0; i < environments.size(); ++i) {
      environments[i]->observe(batch_);
      const auto mask = batch_.mask(batch_.size() - 1);
      const auto only = std::ranges::find(mask, std::uint8_t{1});
      if (std::find(only + 1, mask.end(), std::uint8_t{1}) != mask.end()) {
        asked_.push_back(i);
        continue;
      }
      actions[i] = static_cast<int>(only - mask.begin());
      batch_.pop_row();
    }
    if (asked_.empty()) return;
    env::require_finite_features(environments.front()->spec(), batch_);
    network_->evaluate_logits(batch_, output_);
    check_output();
    for (std::size_t row = 0; row < asked_.size(); ++row) {
      actions[asked_[row]] = model::best_action(logits_of(row));
    }
  }
  void evaluate(Environments environments, std::span<double> values) override {
    batch_.clear();
    for (const env::Environment* environment : environments) environment->observe(batch_);
    expect(environments.front()->spec(), values);
  }
  void evaluate_cut(Environments environments, std::span<const int> agents,
                    std::span<double> values) override {
    batch_.clear();
    for (std::size_t i = 0; i < environments.size(); ++i) {
      environments[i]->observe_last(agents[i], batch_);
    }
    expect(environments.front()->spec(), values);
  }
  std::optional<std::vector<double>> action_values(const env::Environment& environment) override {
    if (heads_ == model::ValueHeads::kValue) return std::nullopt;
    look_at(environment);
    find_action_values();
    return std::vector<double>(q_.begin(), q_.end());
  }
  std::optional<std::vector<float>> log_probabilities(
      const env::Environment& environment) override {
    look_at(environment);
    std::vector<float> out(output_.logits.size());
    model::log_probabilities(logits_of(0), out);
    return out;
  }

 private:
  void look_at(const env::Environment& environment) {
    batch_.clear();
    environment.observe(batch_);
    ask(environment.spec());
  }
  // The network about the rows of the batch.
  void ask(const env::EnvironmentSpec& spec) {
    env::require_finite_features(spec, batch_);
    network_->evaluate(batch_, output_);
    check_output();
  }
  // What it expects of each row. `values` [rows].
  void expect(const env::EnvironmentSpec& spec, std::span<double> values) {
    ask(spec);
    std::ranges::copy(output_.values, values.begin());
    if (heads_ == model::ValueHeads::kValue) return;
    const std::size_t width = batch_.num_candidates();
    find_action_values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = std::span<const float>(q_).subspan(i * width, width);
      values[i] = static_cast<double>(row[static_cast<std::size_t>(model::best_valid_action(row))]);
    }
  }
  void find_action_values() {
    q_.resize(output_.logits.size());
    model::action_values(heads_, output_.logits, output_.values, batch_.padded_masks(masks_),
                         batch_.num_candidates(), q_);
  }
  void check_output() const {
    if (!model::is_sound(output_)) throw model::UnsoundOutput();
  }
  [[nodiscard]] std::span<const float> logits_of(std::size_t row) const {
    const std::size_t width = batch_.num_candidates();
    return std::span(output_.logits).subspan(row * width, width);
  }

  model::ValueHeads heads_;
  std::unique_ptr<model::Policy> own_;
  model::Policy* network_;
  Observations batch_;
  model::PolicyOutput output_;
  std::vector<float> q_;
  std::vector<std::uint8_t> masks_;
  std::vector<std::size_t> asked_;  // environments in the rows of the batch
};

}  // namespace

std::unique_ptr<RolloutPolicy> make_rule_policy(std::unique_ptr<env::Agent> rule) {
  return std::make_unique<RulePolicy>(std::move(rule));
}

std::unique_ptr<RolloutPolicy> make_network_policy(const model::NetworkShape& shape,
                                                   const model::Parameters& parameters,
                                                   model::ValueHeads heads,
                                                   std::span<const env::GraphFeaturesPtr> graphs) {
  auto network = model::make_fused_policy(shape);
  network->set_graphs(graphs);
  network->set_parameters(parameters);
  return std::make_unique<NetworkPolicy>(std::move(network), model::input_shape(shape), heads);
}

std::unique_ptr<RolloutPolicy> make_network_policy(model::Policy& network,
                                                   const ObservationShape& inputs,
                                                   model::ValueHeads heads) {
  return std::make_unique<NetworkPolicy>(network, inputs, heads);
}

}  // namespace pacml::planning
