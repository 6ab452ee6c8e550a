#include "replay/replay_config.h"

namespace pacml::replay {

std::vector<std::string> validate(const ReplayConfig& c) {
  std::vector<std::string> problems;
  const auto within = [&](const char* key, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most) {
      problems.push_back(std::string(key) + ": must be in 1.." + std::to_string(most));
    }
  };
  within("shards", c.shards, 256);
  within("credits_per_actor", c.credits_per_actor, 1024);
  within("max_actors", c.max_actors, 1'000'000);
  within("prefetch", c.prefetch, 1024);
  if (c.max_waiting_bytes < 1 << 20) {
    problems.emplace_back("max_waiting_bytes: must be at least 1048576");
  }
  if (!(c.priority_epsilon > 0 && c.priority_epsilon <= 1e9)) {
    problems.emplace_back("priority_epsilon: must be > 0 and at most 1e9");
  }
  if (c.inserts_per_sample != 0 && !(c.inserts_per_sample >= 1e-3 && c.inserts_per_sample <= 1e9)) {
    problems.emplace_back("inserts_per_sample: must be 0 (no bound) or from 0.001 to 1e9");
  }
  if (!(c.forget_seconds >= 1 && c.forget_seconds <= 1e6)) {
    problems.emplace_back("forget_seconds: must be in 1..1e6");
  }
  if (!(c.grant_seconds >= 1e-3)) {
    problems.emplace_back("grant_seconds: must be at least 0.001");
  }
  if (c.snapshot_seconds != 0 && !(c.snapshot_seconds >= 1e-3)) {
    problems.emplace_back("snapshot_seconds: must be 0 (only at the end) or at least 0.001");
  }
  if (!(c.patience_seconds >= 1e-3)) {
    problems.emplace_back("patience_seconds: must be at least 0.001");
  }
  return problems;
}

}  // namespace pacml::replay
