#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/http/http_settings.h"
#include "apps/roles/composition.h"
#include "apps/roles/replica_wiring.h"
#include "apps/run/train_config.h"
#include "model/trainable_network.h"

namespace pacml::apps {

struct LearnerRoleOptions {
  std::string run_directory;
  std::string bind = "tcp://127.0.0.1:5555";  // where actors connect
  std::vector<std::string> replay;            // replay shards, where the algorithm has some
  bool resume = false;                        // go on from the run's last checkpoint
  std::optional<double> minutes;              // stop after so much time of this process
  std::optional<std::int64_t> decisions;      // stop after so many decisions of the run
  std::optional<HttpSettings> http;           // where status pages are served; none: nowhere
  std::string log_level = "info";
  // Of a new run's first policy, as the warm start found them (warm_start_phase.h).
  std::optional<std::vector<float>> first_weights;
  ReplicaOptions several;  // where learner.replicas is above 1

  // Whether it makes what the run begins with: of several learners the leader does, for all.
  [[nodiscard]] bool begins() const { return !resume && several.replica == 0; }
};

// Runs one learner process until a limit, SIGTERM or SIGINT: serves actors, learns, writes metrics
// and checkpoints (SIGUSR1: now), keeps the policy that does best on held-out episodes. Of several
// learners, the leader alone does the latter two, and ends the others with itself; `connect` is for
// them. The exit code.
[[nodiscard]] int run_learner(const TrainConfig& config, const LearnerRoleOptions& options,
                              const NetworkFactory& make_network,
                              const ReplicaConnector& connect = {});

// The same with an actor of its own in the learning thread, and no sockets: the same configuration,
// seed and options.decisions give the same weights, bit for bit.
[[nodiscard]] int run_deterministic_learner(const TrainConfig& config,
                                            const LearnerRoleOptions& options,
                                            const NetworkFactory& make_network);

}  // namespace pacml::apps
