#include "apps/evaluation/trained_agent.h"

#include <string>

#include "common/experience/observations.h"
#include "env/feature_check.h"
#include "model/action_distribution.h"
#include "model/fused_policy.h"

namespace pacml::apps {

struct TrainedAgent::Impl {
  std::unique_ptr<model::Policy> network;
  Observations batch;
  model::PolicyOutput output;
  PolicyVersion version;
};

TrainedAgent::TrainedAgent(const model::NetworkShape& shape, const model::Parameters& parameters,
                           std::span<const env::GraphFeaturesPtr> graphs)
    : impl_(std::make_unique<Impl>()) {
  impl_->network = model::make_fused_policy(shape);
  impl_->network->set_graphs(graphs);
  impl_->network->set_parameters(parameters);
  impl_->version = parameters.version;
  impl_->batch = Observations(model::input_shape(shape));
}

TrainedAgent::~TrainedAgent() = default;

const model::PolicyOutput& TrainedAgent::evaluate(const env::Environment& environment) {
  impl_->batch.clear();
  environment.observe(impl_->batch);
  env::require_finite_features(environment.spec(), impl_->batch);
  impl_->network->evaluate(impl_->batch, impl_->output);
  if (!model::is_sound(impl_->output)) {
    throw UnsoundPolicy("the policy of update " + std::to_string(impl_->version.get()) +
                        " says nothing that can be acted upon: its training had diverged");
  }
  return impl_->output;
}

int TrainedAgent::act(const env::Environment& environment) {
  return model::best_action(evaluate(environment).logits);
}

}  // namespace pacml::apps
