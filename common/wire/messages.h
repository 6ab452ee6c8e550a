#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/ids.h"

// The protocol at a glance: one struct per message. docs/protocol.md says who sends what when.

namespace pacml::wire {

enum class Role : std::uint8_t { kActor = 1, kLearner = 2, kReplay = 3 };
constexpr auto enum_names(Role) {
  return std::to_array<EnumName<Role>>(
      {{"actor", Role::kActor}, {"learner", Role::kLearner}, {"replay", Role::kReplay}});
}

// Why a peer is turned away. kUnknownPeer is worth another Hello, and so is kStale for one that was
// never welcomed: with a larger incarnation.
enum class Refusal : std::uint8_t {
  kUnknownPeer = 1,  // speaks without a Hello: the server restarted, or the connection is new
  kConfig = 2,       // another task, space or network; or the run's configuration has no place
  kRun = 3,          // belongs to another run
  kStale = 4,        // this incarnation of the actor, or a newer one, was here before
  kMalformed = 5,    // its frames do not decode, or hold what nobody of the run would send
  kStopping = 6,     // the server is about to end
};
constexpr auto enum_names(Refusal) {
  return std::to_array<EnumName<Refusal>>({{"unknown peer", Refusal::kUnknownPeer},
                                           {"config", Refusal::kConfig},
                                           {"run", Refusal::kRun},
                                           {"stale", Refusal::kStale},
                                           {"malformed", Refusal::kMalformed},
                                           {"stopping", Refusal::kStopping}});
}

// Client to server, first of all, and again after kUnknownPeer.
struct Hello {
  Role role = Role::kActor;
  ActorId actor;
  Incarnation incarnation;
  std::uint64_t config_hash = 0;  // of what must agree: task, spaces, network
  std::string config_text;        // the same as text, so that a refusal can say what differs
  std::string run_id;             // empty: joins whichever run is there
  std::string host;               // for logs
  std::uint32_t pid = 0;          // for logs
  // Of an actor: how many decisions an unroll of one environment has, and of how many environments
  // it can make one at once. >= 1, and together no more than a message may hold.
  std::uint32_t unroll_length = 1;
  std::uint32_t most_unrolls = 1;
  bool operator==(const Hello&) const = default;
};

struct Welcome {
  std::string run_id;
  Seed run_seed;
  std::uint64_t credits = 0;  // granted in total so far to this connection
  PolicyVersion policy_version;
  std::uint64_t max_policy_lag = 0;  // versions
  std::uint32_t unrolls = 1;         // that messages to come shall hold, as in Credit
  Incarnation incarnation{};         // of the Hello that it answers
  bool operator==(const Welcome&) const = default;
};

// An actor that fetches weights itself does so when the newest are so many versions newer: fetching
// them more often than the lag that is allowed needs costs both sides much, since everything that
// an actor derives from them is computed anew. A quarter, so that the rest is for experience on its
// way.
[[nodiscard]] constexpr std::uint64_t refresh_lag(std::uint64_t max_policy_lag) {
  return max_policy_lag < 4 ? 1 : max_policy_lag / 4;
}
// One that is sent weights with leave to act asks for them only when those have not come: no
// learner leaves an actor with older ones.
[[nodiscard]] constexpr std::uint64_t overdue_lag(std::uint64_t max_policy_lag) {
  return max_policy_lag < 4 ? 1 : max_policy_lag / 2;
}

struct Refused {
  Refusal why = Refusal::kUnknownPeer;
  std::string reason;    // a sentence for a person
  Incarnation newest{};  // kStale: that is known of the actor; otherwise 0
  bool operator==(const Refused&) const = default;
};

// Uses one grant.
struct Experience {
  ActorId actor;
  Incarnation incarnation;
  Sequence sequence;  // 1, 2, ... within the incarnation
  Sequences sequences;
  bool operator==(const Experience&) const = default;
};

// Leave to act. An actor that has none waits; one that has acts, with the newest weights that have
// come, and sends what came of it.
struct Credit {
  std::uint64_t granted = 0;  // messages in total since the Welcome's Hello; never falls
  Sequence last_accepted;     // 0: none yet
  std::uint32_t unrolls = 1;  // that messages not yet begun shall hold, at most; >= 1
  bool operator==(const Credit&) const = default;
};

struct GetWeights {
  // 0: none. Answered by Weights, or by WeightsAnnouncement when it is what the server has.
  PolicyVersion have;
  bool operator==(const GetWeights&) const = default;
};

struct Weights {
  PolicyVersion version;
  std::uint64_t layout_hash = 0;
  std::vector<float> values;  // finite; their content_hash travels with them and is checked
  bool operator==(const Weights&) const = default;
};

// Broadcast by PUB.
struct WeightsAnnouncement {
  PolicyVersion version;
  std::uint64_t content_hash = 0;
  bool operator==(const WeightsAnnouncement&) const = default;
};

struct NeedGraph {
  GraphHash hash;
  bool operator==(const NeedGraph&) const = default;
};

// The observation features of a graph; the fields of env::GraphFeatures. The receiver recomputes
// the hash.
struct Graph {
  GraphHash hash;
  std::uint32_t num_nodes = 0;
  std::uint32_t num_edges = 0;
  std::uint32_t node_width = 0;
  std::uint32_t edge_width = 0;
  std::vector<float> node_features;    // [num_nodes, node_width], finite
  std::vector<float> edge_features;    // [num_edges, edge_width], finite
  std::vector<std::int32_t> edge_src;  // [num_edges], in [0, num_nodes)
  std::vector<std::int32_t> edge_dst;  // [num_edges], in [0, num_nodes)
  bool operator==(const Graph&) const = default;
};

struct Ping {
  std::uint64_t nonce = 0;
  bool operator==(const Ping&) const = default;
};

struct Pong {
  std::uint64_t nonce = 0;
  bool operator==(const Pong&) const = default;
};

struct Goodbye {
  std::string reason;
  bool operator==(const Goodbye&) const = default;
};

// Uses one grant, as Experience does.
struct Insert {
  ActorId actor;
  Incarnation incarnation;
  Sequence sequence;  // 1, 2, ... within the incarnation
  PrioritizedTransitions batch;
  bool operator==(const Insert&) const = default;
};

// Learner to replay shard: draw so many. Answered by Samples, when the shard may: perhaps late.
struct Sample {
  std::uint64_t request = 0;  // rising; named in the answer
  std::uint32_t count = 0;    // >= 1
  bool operator==(const Sample&) const = default;
};

// How much a shard holds, for sharing draws between shards.
struct ShardState {
  std::uint64_t size = 0;      // items
  double total_priority = 0;   // sum of their weights; in 0..1e300
  std::uint64_t inserted = 0;  // items, since the shard's table began
  bool operator==(const ShardState&) const = default;
};

struct Samples {
  std::uint64_t request = 0;
  Transitions transitions;
  std::vector<std::uint64_t> keys;      // [N], of the items, for PriorityUpdates
  std::vector<double> probabilities;    // [N], of each draw within the shard, in (0, 1]
  ShardState shard;                     // when they were drawn
  std::vector<EpisodeRecord> episodes;  // reported by actors since the last Samples
  bool operator==(const Samples&) const = default;
};

// Learner to replay shard; not answered.
struct PriorityUpdates {
  std::vector<std::uint64_t> keys;  // [N]
  std::vector<float> priorities;    // [N]; the table refuses what is not finite or below 0
  bool operator==(const PriorityUpdates&) const = default;
};

// Anybody to a server, without a Hello.
struct GetStatus {
  bool operator==(const GetStatus&) const = default;
};

struct Status {
  std::string text;  // a JSON object; what is in it depends on the role
  bool operator==(const Status&) const = default;
};

// The type on the wire is the index plus one.
using Message = std::variant<Hello, Welcome, Refused, Experience, Credit, GetWeights, Weights,
                             WeightsAnnouncement, NeedGraph, Graph, Ping, Pong, Goodbye, Insert,
                             Sample, Samples, PriorityUpdates, GetStatus, Status>;

}  // namespace pacml::wire
