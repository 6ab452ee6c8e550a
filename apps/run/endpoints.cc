#include "apps/run/endpoints.h"

#include <set>
#include <string>

#include "common/read_number.h"
#include "common/result.h"

namespace pacml::apps {

namespace {

// The endpoint that lies `offset` ports higher, or whose path ends in `suffix`. UserError: there is
// no such port.
transport::Endpoint beside(const transport::Endpoint& actors, std::int64_t offset,
                           const std::string& suffix, const char* purpose) {
  if (actors.kind() != transport::Endpoint::Kind::kTcp) {
    return transport::Endpoint::parse(actors.str() + suffix);
  }
  const auto port = read_number<std::int64_t>(actors.port());
  const std::int64_t highest = 65535 - offset;
  if (!port || *port < 1 || *port > highest) {
    throw UserError(actors.str() + ": the port must be a number in 1.." + std::to_string(highest) +
                    " (" + purpose + ")");
  }
  const auto colon = actors.str().rfind(':');
  return transport::Endpoint::parse(actors.str().substr(0, colon + 1) +
                                    std::to_string(*port + offset));
}

}  // namespace

transport::Endpoint announcement_endpoint(const transport::Endpoint& actors) {
  return beside(actors, 1, "-weights", "the next one announces weights");
}

transport::Endpoint shard_endpoint(const transport::Endpoint& actors, std::int64_t shard) {
  return beside(actors, 2 + shard, "-replay-" + std::to_string(shard),
                "replay shards listen above it");
}

transport::Endpoint learner_endpoint(const transport::Endpoint& actors, std::int64_t shards,
                                     std::int64_t number) {
  if (number == 0) return actors;
  return beside(actors, 2 + shards + 2 * (number - 1), "-learner-" + std::to_string(number),
                "further learners listen above it");
}

transport::Endpoint board_endpoint(const transport::Endpoint& actors, std::int64_t shards,
                                   std::int64_t learners) {
  return beside(actors, ports_above(shards, learners) + 1, "-board",
                "the learners gather above it");
}

std::int64_t ports_above(std::int64_t shards, std::int64_t learners) {
  return 1 + shards + 2 * (learners - 1);
}

transport::Endpoint reached_from_here(const transport::Endpoint& bound) {
  if (!bound.is_everywhere()) return bound;
  return transport::Endpoint::parse("tcp://127.0.0.1:" + bound.port());
}

void check_replay_addresses(const TrainConfig& config, const std::vector<std::string>& addresses) {
  const std::string algorithm(name_of(config.algorithm));
  if (!uses_replay(config.algorithm)) {
    if (addresses.empty()) return;
    throw UserError("--replay: the algorithm " + algorithm + " uses no replay; apex does");
  }
  if (addresses.size() == static_cast<std::size_t>(config.replay.shards)) return;
  throw UserError("--replay: " + std::to_string(addresses.size()) +
                  " addresses, but replay.shards is " + std::to_string(config.replay.shards) +
                  "; name each shard once, in the same order everywhere");
}

void check_learner_addresses(const TrainConfig& config, const std::vector<std::string>& addresses) {
  const std::string kOnce = "; of several learners, name each once";
  if (addresses.size() > static_cast<std::size_t>(config.learner.replicas)) {
    throw UserError("--learner: " + std::to_string(addresses.size()) +
                    " addresses, but learner.replicas is " +
                    std::to_string(config.learner.replicas) + kOnce);
  }
  const std::set<std::string> distinct(addresses.begin(), addresses.end());
  if (distinct.size() != addresses.size()) {
    throw UserError("--learner: an address is there twice" + kOnce);
  }
}

void check_all_reduce_host(const TrainConfig& config, const std::string& host) {
  const bool is_v6 = host.find(':') != std::string::npos;
  const auto any_port =
      transport::Endpoint::parse("tcp://" + (is_v6 ? "[" + host + "]" : host) + ":1");
  if (any_port.is_local() || config.learner.allow_insecure_all_reduce) return;
  throw UserError("--all-reduce-host " + host +
                  ": the all-reduce neither encrypts nor authenticates; where everybody in the "
                  "network is trusted, set learner.allow_insecure_all_reduce");
}

}  // namespace pacml::apps
