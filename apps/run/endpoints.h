#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/train_config.h"
#include "common/transport/endpoint.h"

namespace pacml::apps {

// Where processes of one run listen on one host, given where its learner talks to actors. Of tcp
// these are ports in a row: the learner's two, one a replay shard, two a further learner, the
// board's. UserError: a tcp port that is no number, or too high for the others to lie above it.

// Where a learner announces weights: the next port, or the path with "-weights" at its end.
[[nodiscard]] transport::Endpoint announcement_endpoint(const transport::Endpoint& actors);

// Where replay shard `shard` listens; of a path, with "-replay-N" at its end.
[[nodiscard]] transport::Endpoint shard_endpoint(const transport::Endpoint& actors,
                                                 std::int64_t shard);

// Where learner `number` of several talks to its actors: the first one there, each of the others,
// of a path, with "-learner-N" at its end. It announces weights beside that.
[[nodiscard]] transport::Endpoint learner_endpoint(const transport::Endpoint& actors,
                                                   std::int64_t shards, std::int64_t number);

// Where the first of several learners gathers the others; of a path, with "-board" at its end.
[[nodiscard]] transport::Endpoint board_endpoint(const transport::Endpoint& actors,
                                                 std::int64_t shards, std::int64_t learners);

// How many ports above its learner's a run binds on one host, if the board is elsewhere.
[[nodiscard]] std::int64_t ports_above(std::int64_t shards, std::int64_t learners);

// How processes of this machine reach what is bound at `bound`, which may be every interface.
[[nodiscard]] transport::Endpoint reached_from_here(const transport::Endpoint& bound);

// UserError: not as many addresses as the configuration has replay shards, which is none where the
// algorithm does not replay.
void check_replay_addresses(const TrainConfig& config, const std::vector<std::string>& addresses);

// UserError: more addresses than the configuration has learners, or one of them twice.
void check_learner_addresses(const TrainConfig& config, const std::vector<std::string>& addresses);

// UserError: several learners would exchange gradients by way of `host`, which others can reach,
// and the configuration does not allow that (learner.allow_insecure_all_reduce).
void check_all_reduce_host(const TrainConfig& config, const std::string& host);

}  // namespace pacml::apps
