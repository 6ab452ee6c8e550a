#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "actor/actor_loop.h"
#include "apps/run/train_config.h"
#include "env/task.h"
#include "learner/sample_source.h"
#include "learner/transition_source.h"
#include "model/policy.h"
#include "replay/table.h"

namespace pacml::apps {

// An actor and a replay table in the learner's thread: before each batch the actor hands in what
// the table's rate limiter wants, a message at least. No processes, no sockets, no clock, hence
// reproducible. Thread-confined.
class InProcessReplay final : public learner::TransitionSource, public learner::ParametersSink {
 public:
  explicit InProcessReplay(const TrainConfig& config);
  ~InProcessReplay() override;

  // Acts until a batch can be drawn. kTimeout after so many messages, whatever the deadline: what
  // is learned from must not depend on how fast this machine is. Pre: weights were published.
  Result<learner::SampledTransitions> next(std::stop_token stop, Deadline deadline) override;
  void report_priorities(std::uint64_t ticket, std::span<const float> priorities) override;
  [[nodiscard]] News take_news() override;
  [[nodiscard]] std::size_t queue_depth() const override { return 0; }
  void publish(model::Parameters parameters) override;

 private:
  void act();

  TrainConfig config_;
  env::TaskPtr task_;
  std::unique_ptr<model::Policy> policy_;
  std::unique_ptr<actor::ActorLoop> loop_;  // made with the first weights, which name its streams
  replay::Table table_;
  Observations nothing_;                    // the task's shape and graphs, without rows
  std::vector<std::uint16_t> graph_index_;  // of its graphs: themselves
  Bytes packed_;                            // scratch
  News news_;
  std::uint64_t tickets_ = 0;
  std::vector<replay::ItemKey> drawn_;  // the items of the last ticket
  std::vector<replay::SampledItem> items_;
};

}  // namespace pacml::apps
