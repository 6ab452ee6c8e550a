#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/train_config.h"
#include "common/transport/endpoint.h"

namespace pacml::apps {

// Where a learner announces weights, given where it talks to actors: the next port, or the path
// with "-weights" at its end. Pre: a tcp port is a number below 65535 (UserError).
[[nodiscard]] transport::Endpoint announcement_endpoint(const transport::Endpoint& actors);

// Where one machine's replay shard listens, given where its learner talks to actors: the ports
// after the learner's two, or the path with "-replay-N" at its end. Pre: as above.
[[nodiscard]] transport::Endpoint shard_endpoint(const transport::Endpoint& actors,
                                                 std::int64_t shard);

// How processes of this machine reach what is bound at `bound`, which may be every interface.
[[nodiscard]] transport::Endpoint reached_from_here(const transport::Endpoint& bound);

// UserError: not as many addresses as the configuration has replay shards, which is none where the
// algorithm does not replay.
void check_replay_addresses(const TrainConfig& config, const std::vector<std::string>& addresses);

}  // namespace pacml::apps
