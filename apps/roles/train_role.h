#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/train_config.h"
#include "common/clock.h"

namespace pacml::apps {

struct TrainRoleOptions {
  std::string config_text;                     // effective configuration, of every role
  Duration news_every{};                       // between lines of the learner's metrics
  std::vector<std::string> learner_arguments;  // further options of the learner
  std::string run_directory;
  std::optional<double> minutes;
  std::optional<std::int64_t> decisions;
  std::int64_t actors = 1;
  std::int64_t replay_shards = 0;  // of an algorithm that replays; 0: none
  std::string bind;  // tcp: actors of other hosts may join; empty: this run's own alone
  // Kept up to date with the words that an actor needs to join, one a line, from when the learner
  // listens until the run ends; empty: nowhere.
  std::string address_file;
  std::int64_t learners = 1;  // that take each update together
  bool resume = false;
  std::chrono::milliseconds patience{};  // for all to stop in order
  std::chrono::milliseconds silence{};   // of a process that hangs; 0: none ever does
};

// Trains on this machine: starts a learner, replay shards and actors as processes of their own,
// joined by sockets in the file system (or at options.bind), shows progress, and looks after them
// (apps/process/run_supervisor.h): a learner that died goes on from its last checkpoint, a shard
// from its last snapshot. The exit code: RunSupervisor's. UserError as the roles throw it.
[[nodiscard]] int run_training(const TrainRoleOptions& options);

}  // namespace pacml::apps
