#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/http/http_settings.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct ActorRoleOptions {
  std::vector<std::string> learners;  // endpoints; of several, actor i talks to the (i mod N)-th
  std::vector<std::string> replay;   // endpoints of the replay shards, where the algorithm has some
  std::uint32_t id = 0;              // unique among the actors of a run
  std::string run_id;                // empty: whichever run the learner is at
  std::optional<HttpSettings> http;  // where status pages are served; none: nowhere
  std::string log_level = "info";
  std::string log;  // file of bounded length to log to, instead of standard error; empty: none
};

// Runs one actor process until SIGTERM, SIGINT or the learner's end; the exit code: kExitTryAgain
// where the learner, or the shard, stayed silent. UserError: the learner refuses us.
[[nodiscard]] int run_actor(const TrainConfig& config, const ActorRoleOptions& options);

}  // namespace pacml::apps
