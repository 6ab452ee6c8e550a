#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/clock.h"
#include "common/config/seconds.h"

namespace pacml::learner {

// The learner's housekeeping; what it learns from and how is the algorithm's configuration.
struct LearnerConfig {
  // Learners that take each update together, each on its share of the batch; replica 0 leads.
  std::int64_t replicas = 1;               // 1..64
  Seconds all_reduce_seconds = 10;         // for the slowest replica, before the others go on; > 0
  bool allow_insecure_all_reduce = false;  // beyond this machine: in the clear, from anybody
  // That an update is computed on at once (ParallelNetwork); 1..256.
  std::int64_t threads = 1;
  std::int64_t credits_per_actor = 2;  // messages that an actor may have on the way or queued; >= 1
  std::int64_t max_actors = 4096;      // >= 1
  std::int64_t max_waiting_bytes = 1 << 30;  // of messages that wait; further ones are dropped;
                                             // >= 1 MiB
  Seconds grant_seconds = 2;       // for leave to act to be used, before others get it; > 0
  Seconds forget_seconds = 30;     // a silent actor whose turn it is to speak is forgotten; >= 1
  Seconds metrics_seconds = 2;     // between lines of metrics.jsonl; > 0
  Seconds checkpoint_seconds = 1;  // what a crash may cost; > 0
  std::int64_t keep_checkpoints = 60;   // besides the best; >= 1
  Seconds evaluate_seconds = 15;        // between evaluations of the policy, at least; > 0
  double evaluate_share = 0.2;          // of the time that they may take; in (0, 1]
  std::int64_t evaluate_episodes = 10;  // held-out episodes of each; 0: never
  bool tensorboard = true;              // writes what TensorBoard reads, beside metrics.jsonl
  bool operator==(const LearnerConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, LearnerConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("replicas", c.replicas);
  v("all_reduce_seconds", c.all_reduce_seconds);
  v("allow_insecure_all_reduce", c.allow_insecure_all_reduce);
  v("threads", c.threads);
  v("credits_per_actor", c.credits_per_actor);
  v("max_actors", c.max_actors);
  v("max_waiting_bytes", c.max_waiting_bytes);
  v("grant_seconds", c.grant_seconds);
  v("forget_seconds", c.forget_seconds);
  v("metrics_seconds", c.metrics_seconds);
  v("checkpoint_seconds", c.checkpoint_seconds);
  v("keep_checkpoints", c.keep_checkpoints);
  v("evaluate_seconds", c.evaluate_seconds);
  v("evaluate_share", c.evaluate_share);
  v("evaluate_episodes", c.evaluate_episodes);
  v("tensorboard", c.tensorboard);
}

// From the end of an evaluation that took so long to the next one.
[[nodiscard]] Duration pause_after_evaluation(const LearnerConfig& config, Duration took);

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const LearnerConfig& config);

}  // namespace pacml::learner
