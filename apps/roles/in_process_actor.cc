#include "apps/roles/in_process_actor.h"

#include <variant>

#include "apps/roles/actor_seed.h"
#include "apps/roles/composition.h"
#include "common/check.h"
#include "model/fused_policy.h"

namespace pacml::apps {

InProcessActor::InProcessActor(const TrainConfig& config)
    : config_(config),
      world_(make_world(config)),
      policy_(model::make_fused_policy(model::make_shape(config.network, world_->spec()))) {}

InProcessActor::~InProcessActor() = default;

Result<learner::ReceivedUnrolls> InProcessActor::next(std::stop_token /*stop*/,
                                                      Deadline /*deadline*/) {
  PACML_CHECK(loop_ != nullptr, "weights are published before experience is asked for");
  return learner::ReceivedUnrolls{
      {}, std::get<Unrolls>(loop_->run_message()), world_->spec().graphs};
}

void InProcessActor::consumed(const transport::PeerId& /*peer*/) {}

void InProcessActor::publish(model::Parameters parameters) {
  if (!loop_) {
    const Seed run{static_cast<std::uint64_t>(config_.seed)};
    const Seed seed = actor_seed(run, ActorId{0}, parameters.version);
    loop_ = std::make_unique<actor::ActorLoop>(
        config_.actor, [this] { return std::make_unique<env::PartitioningEnv>(world_); }, *policy_,
        make_behaviour(config_, world_->spec(), ActorId{0}, *policy_, seed), seed);
  }
  loop_->set_parameters(parameters);
}

}  // namespace pacml::apps
