#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/seconds.h"
#include "replay/table_config.h"

namespace pacml::replay {

// The replay service: how many shards, and how actors, shards and the learner deal with one
// another.
struct ReplayConfig {
  std::int64_t shards = 1;             // processes, each with a table; 1..256
  TableConfig table;                   // of each shard
  double priority_epsilon = 1e-3;      // added to every |TD error|, so that none is never drawn
                                       // again; > 0
  std::int64_t credits_per_actor = 4;  // messages that an actor may have on the way or waiting
  std::int64_t max_actors = 4096;      // of a shard
  std::int64_t max_waiting_bytes = 1 << 30;  // of messages that wait for the table; further ones
                                             // are dropped; >= 1 MiB
  // Transitions that come in for each that is drawn, at most: actors that would bring more wait.
  // Only where the table has no samples_per_insert; 0: no bound.
  double inserts_per_sample = 4;
  Seconds grant_seconds = 2;      // for leave to act to be used, before others get it; > 0
  Seconds forget_seconds = 30;    // a silent peer whose turn it is to speak is forgotten; >= 1
  std::int64_t prefetch = 4;      // batches that the learner has asked for ahead; >= 1
  Seconds snapshot_seconds = 60;  // between snapshots of a shard; 0: only when it ends
  Seconds patience_seconds = 10;  // after which draws that a shard owes are drawn elsewhere
  bool operator==(const ReplayConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, ReplayConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("shards", c.shards);
  v("table", c.table);
  v("priority_epsilon", c.priority_epsilon);
  v("credits_per_actor", c.credits_per_actor);
  v("max_actors", c.max_actors);
  v("max_waiting_bytes", c.max_waiting_bytes);
  v("inserts_per_sample", c.inserts_per_sample);
  v("grant_seconds", c.grant_seconds);
  v("forget_seconds", c.forget_seconds);
  v("prefetch", c.prefetch);
  v("snapshot_seconds", c.snapshot_seconds);
  v("patience_seconds", c.patience_seconds);
}

// Every problem of these fields, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const ReplayConfig& config);

// The priority of an item whose |TD error| is said to be that. What is no magnitude stays none, for
// the table to refuse.
[[nodiscard]] inline double priority_of(const ReplayConfig& config, double error) {
  return error < 0 ? error : error + config.priority_epsilon;
}

}  // namespace pacml::replay
