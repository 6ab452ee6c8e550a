#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/http/http_settings.h"
#include "apps/run/train_config.h"

namespace pacml::apps {

struct ActorRoleOptions {
  // Endpoints; of several, actor i talks to the (i mod N)-th, and to the next while that is away.
  std::vector<std::string> learners;
  std::vector<std::string> replay;   // endpoints of the replay shards, where the algorithm has some
  std::uint32_t id = 0;              // unique among the actors of a run
  std::string run_id;                // empty: whichever run the learner is at
  std::optional<HttpSettings> http;  // where status pages are served; none: nowhere
  std::string log_level = "info";
  std::string log;  // file of bounded length to log to, instead of standard error; empty: none
};

// Runs one actor process until SIGTERM, SIGINT or the end of the run; the exit code: kExitTryAgain
// where all learners, or the shard, stayed silent, or where a signal ended an actor that somebody
// looks after (LifeLine): the run may still want it. UserError: a learner refuses us.
[[nodiscard]] int run_actor(const TrainConfig& config, const ActorRoleOptions& options);

}  // namespace pacml::apps
