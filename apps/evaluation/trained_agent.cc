#include "apps/evaluation/trained_agent.h"

#include <string>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/feature_check.h"
#include "model/action_distribution.h"
#include "model/fused_policy.h"

namespace pacml::apps {

struct TrainedAgent::Impl {
  std::unique_ptr<model::Policy> network;
  Observations batch;
  model::PolicyOutput output;
  PolicyVersion version;
  Choice choice = Choice::kBest;
  Rng rng{Seed{0}};  // of the actions that are drawn
};

TrainedAgent::TrainedAgent(const model::NetworkShape& shape, const model::Parameters& parameters,
                           std::span<const env::GraphFeaturesPtr> graphs, Choice choice)
    : impl_(std::make_unique<Impl>()) {
  impl_->choice = choice;
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
    throw model::UnsoundOutput("the policy of update " + std::to_string(impl_->version.get()) +
                               " says nothing that can be acted upon: its training had diverged");
  }
  return impl_->output;
}

void TrainedAgent::reset(Seed seed) { impl_->rng = Rng(derive(seed, Purpose::kExploration, 0)); }

int TrainedAgent::act(const env::Environment& environment) {
  const auto& logits = evaluate(environment).logits;
  if (impl_->choice == Choice::kBest) return model::best_action(logits);
  return model::sample_action(logits, impl_->rng).action;
}

}  // namespace pacml::apps
