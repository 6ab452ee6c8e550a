#pragma once

#include <memory>

#include "actor/actor_loop.h"
#include "apps/run/train_config.h"
#include "env/task.h"
#include "learner/sample_source.h"
#include "model/policy.h"

namespace pacml::apps {

// An actor that acts when its learner asks for experience: no processes, no sockets, no clock,
// hence reproducible. Thread-confined.
class InProcessActor final : public learner::SampleSource, public learner::ParametersSink {
 public:
  explicit InProcessActor(const TrainConfig& config);
  ~InProcessActor() override;

  // Never kTimeout: when an update comes depends on no clock. Pre: weights were published.
  Result<learner::ReceivedSequences> next(std::stop_token stop, Deadline deadline) override;
  void consumed(const learner::ReceivedSequences& received) override;
  [[nodiscard]] std::size_t queue_depth() const override { return 0; }
  void publish(model::Parameters parameters) override;

 private:
  TrainConfig config_;
  env::TaskPtr task_;
  std::unique_ptr<model::Policy> policy_;
  std::unique_ptr<actor::ActorLoop> loop_;  // made with the first weights, which name its streams
};

}  // namespace pacml::apps
