#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/http/http_settings.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct ReplayRoleOptions {
  std::string bind = "tcp://127.0.0.1:5560";  // where actors and the learner connect
  std::uint32_t shard = 0;                    // number of this shard, from 0
  std::optional<std::string> snapshot;        // file of its snapshots; none: nothing is kept
  bool run_begins = false;                    // a snapshot that is there is another run's: refused
  std::string run_id;                         // empty: actors of any run are welcome
  std::optional<HttpSettings> http;           // where status pages are served; none: nowhere
  std::string log_level = "info";
  std::string log;  // file of bounded length to log to, instead of standard error; empty: none
};

// Runs one replay shard until SIGTERM or SIGINT, which leave a last snapshot; SIGUSR1: a snapshot
// now. Where there is a snapshot, it goes on from it, unless the run begins. The exit code.
// UserError: the address cannot be bound, the snapshot not be read or written, or it is there
// although the run begins.
[[nodiscard]] int run_replay(const TrainConfig& config, const ReplayRoleOptions& options);

}  // namespace pacml::apps
