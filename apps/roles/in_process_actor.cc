#include "apps/roles/in_process_actor.h"

#include <variant>

#include "apps/roles/actor_seed.h"
#include "apps/roles/composition.h"
#include "common/check.h"
#include "model/fused_policy.h"

namespace pacml::apps {
InProcessActor::InProcessActor(const TrainConfig& config)
    : config_(config),
      task_(config.env.make()),
      policy_(model::make_fused_policy(model::make_shape(config.network, task_->spec()))) {}

InProcessActor::~InProcessActor() = default;

Result<learner::ReceivedSequences> InProcessActor::next(std::stop_token stop,
                                                        Deadline /*deadline*/) {
  PACML_CHECK(loop_ != nullptr, "weights are published before experience is asked for");
  if (stop.stop_requested()) return fail(Errc::kStopped);
  return learner::ReceivedSequences{
      {}, std::get<Sequences>(loop_->run_message()), task_->spec().graphs};
}

void InProcessActor::consumed(const learner::ReceivedSequences& /*received*/) {}

void InProcessActor::publish(model::Parameters parameters) {
  if (!loop_) {
    const Seed run{static_cast<std::uint64_t>(config_.seed)};
    loop_ = make_actor_loop(config_, *task_, *policy_, ActorId{0},
                            actor_seed(run, ActorId{0}, parameters.version));
  }
  loop_->set_parameters(parameters);
}

}  // namespace pacml::apps
