#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/train_config.h"
#include "common/experience/observation_spec.h"
#include "env/task.h"

namespace pacml::apps {

// Upper bounds of what the messages of a run carry, in bytes: docs/protocol.md, "Experience" and
// what follows. Value type.
struct LargestMessages {
  std::int64_t step = 0;        // of experience: a decision, or a transition
  std::int64_t beside = 0;      // steps that a message may have besides an unroll's, of each unroll
  std::int64_t experience = 0;  // of an actor with these settings: all its unrolls
  std::int64_t draw = 0;        // a batch out of a replay; 0: there is none
};

// `most_nodes`: of the graphs that decisions are about, where the task is made; of others as many
// as `shown` says. Pre: config.actor is valid. Pure.
[[nodiscard]] LargestMessages largest_messages(const TrainConfig& config,
                                               const ObservationSpec& shown,
                                               std::size_t most_nodes = 0);

// What of it no peer would believe (wire::WireLimits, SequenceLimits), as sentences that name the
// key.
[[nodiscard]] std::vector<std::string> too_large(const TrainConfig& config,
                                                 const ObservationSpec& shown,
                                                 std::size_t most_nodes = 0);

// UserError: the first of those sentences, now that the graphs are known; or a graph, or weights,
// that no message holds.
void check_messages_fit(const TrainConfig& config, const env::Task& task);

}  // namespace pacml::apps
