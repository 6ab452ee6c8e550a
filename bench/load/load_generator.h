#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/load/protocol_actor.h"
#include "common/clock.h"
#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket_config.h"
#include "common/wire/messages.h"
#include "env/graph_features.h"

namespace pacml::bench {

// Whom to load.
struct LoadTarget {
  transport::Endpoint learner;
  transport::Endpoint announcements;
  std::vector<transport::Endpoint> shards;  // none: experience goes to the learner
  transport::SocketConfig sockets;
};

struct LoadConfig {
  std::size_t actors = 1;                         // >= 1
  double decisions_per_second = 0;                // of each actor while it acts; 0: without limit
  std::size_t threads = 1;                        // that drive them; >= 1
  Duration patience = std::chrono::seconds(120);  // for every actor to be welcomed
  Duration warm_up = std::chrono::seconds(3);     // after that, before anything counts
  Duration measure = std::chrono::seconds(10);    // what counts
  Duration settle = std::chrono::seconds(60);     // at most, for the last messages to be accepted
};

// What the actors saw at their end of the wire.
struct LoadReport {
  std::size_t actors = 0;
  std::size_t welcomed = 0;     // within the patience
  double welcomed_seconds = 0;  // from the first connection to the last Welcome
  double ready_seconds = 0;     // ... until the last one has weights, too
  double measured_seconds = 0;
  std::uint64_t accepted = 0;  // messages while it measured
  double decisions = 0;        // in these
  double bytes_up = 0;         // of experience, in these
  double bytes_down = 0;       // of weights, while it measured
  std::uint64_t fewest = 0;    // decisions accepted of one actor
  std::uint64_t most = 0;
  double jain = 0;            // of what was accepted, over actors: 1 is even, 1/actors is one's all
  double round_trip_p50 = 0;  // seconds from a message to the word that it was accepted
  double round_trip_p99 = 0;
  std::uint64_t sent = 0;          // messages, from start to end
  std::uint64_t lost = 0;          // of these, not said to be accepted in the end
  std::uint64_t rejoined = 0;      // times that a conversation had to begin anew
  std::vector<std::string> ended;  // why actors gave up: each reason once
};

// How many files an actor of this generator needs open; and a process beside them.
[[nodiscard]] std::size_t open_files_for(std::size_t actors, bool with_shard);
// How many sockets a context must have room for.
[[nodiscard]] int sockets_for(std::size_t actors, bool with_shard);

// Connects config.actors protocol actors, each over sockets of its own, lets them send `canned` and
// measures. `hello`: who they are, but for the number; actors are spread over the shards as real
// ones are. `measuring`: called with true when measuring begins and with false when it ends, from
// the calling thread. Borrows everything for the call; ends early where `stop` asks for it.
// Pre: context has room for sockets_for().
[[nodiscard]] LoadReport run_load(transport::Context& context, const LoadTarget& target,
                                  const wire::Hello& hello,
                                  std::span<const env::GraphFeaturesPtr> graphs,
                                  const CannedExperience& canned, const LoadConfig& config,
                                  const std::function<void(bool)>& measuring,
                                  const std::stop_token& stop);

}  // namespace pacml::bench
