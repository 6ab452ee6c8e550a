#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A list of hosts to train on, as text:
//
//     trainer@10.0.0.1
//     10.0.0.2 slots=16
//     10.0.0.3 slots=4 role=replay
//
// One host a line; "#" begins a comment. The first, or the one with role=learner, has the learner;
// the second one sixteen actors; the third one replay shards, and four actors. Several learners go
// to the hosts with role=learner in turn, or to all of them.

namespace pacml::apps {

enum class HostRole { kAny, kLearner, kReplay, kActor };

struct Host {
  std::string login;       // what ssh is told: "user@name" or "name"
  std::string name;        // what other hosts call it
  std::int64_t slots = 0;  // actors that it has room for; without slots=N: 1, and 0 with
                           // role=learner or role=replay
  HostRole role = HostRole::kAny;
  bool operator==(const Host&) const = default;
};

// At least one host, no host twice. UserError names `file`, the line
// and what is wrong with it. Pure.
[[nodiscard]] std::vector<Host> parse_hostfile(const std::string& file, std::string_view text);

// Which host has which process; indices into the hosts.
struct Placement {
  std::vector<std::size_t> learners;  // learner k; the first leads
  std::vector<std::size_t> shards;
  std::vector<std::size_t> actors;  // actor i; hosts take turns
  bool operator==(const Placement&) const = default;
};

// Learners go to the hosts with role=learner in turn, or to the first ones; shards to those with
// role=replay, or to the first learner's. `actors`: absent, as many as there are slots. UserError:
// more than slots, or none at all; more hosts with role=learner than learners. Pre: learners >= 1.
// Pure.
[[nodiscard]] Placement place_roles(const std::vector<Host>& hosts, std::int64_t learners,
                                    std::int64_t shards, std::optional<std::int64_t> actors);

}  // namespace pacml::apps
