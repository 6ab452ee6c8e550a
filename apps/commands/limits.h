#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/run/train_config.h"
#include "common/result.h"

namespace pacml::apps {

// The highest number of an episode, which JSON's readers still hold exactly.
inline constexpr std::int64_t kHighestEpisode = std::int64_t{1} << 53;

// UserError: the value of an option is none of least..most.
inline void check_range(const std::string& option, std::int64_t value, std::int64_t least,
                        std::int64_t most) {
  if (value >= least && value <= most) return;
  throw UserError(option + ": must be in " + std::to_string(least) + ".." + std::to_string(most));
}

// How long a run may go on. UserError: a number that nobody means.
inline void check_limits(const std::optional<double>& minutes,
                         const std::optional<std::int64_t>& decisions) {
  constexpr double kMostMinutes = 5'256'000;  // ten years
  if (minutes) {
    const bool is_meant = *minutes > 0 && *minutes <= kMostMinutes;  // NaN is not
    if (!is_meant) throw UserError("--minutes: must be > 0 and at most 5256000 (ten years)");
  }
  if (decisions && *decisions < 1) throw UserError("--decisions: must be at least 1");
}

// How many actors to start. UserError: fewer than `fewest`, or too many.
inline void check_actors(const std::optional<std::int64_t>& actors, std::int64_t fewest) {
  if (actors) check_range("--actors", *actors, fewest, kMostActors);
}

// Whom a learner or a shard has no room for would be refused, start again, and be given up. Actors
// stay with one shard; with several learners, one has to do for all while the others are away.
// UserError: too many; `rest` ends the sentence.
inline void check_room(const TrainConfig& config, std::int64_t actors,
                       const std::string& rest = "") {
  const auto check = [&](std::int64_t most, const std::string& what) {
    if (actors <= most) return;
    throw UserError(std::to_string(actors) + " actors are more than " + what + rest);
  };
  check(kMostActors, std::to_string(kMostActors));
  const std::int64_t of_learner = config.learner.max_actors;
  check(of_learner, "learner.max_actors, " + std::to_string(of_learner));
  if (!uses_replay(config.algorithm)) return;
  const std::int64_t of_shard = config.replay.max_actors;
  const std::int64_t shards = config.replay.shards;
  check(of_shard * shards, "replay.max_actors, " + std::to_string(of_shard) + ", of each of " +
                               std::to_string(shards) + " shards");
}

}  // namespace pacml::apps
