#include "apps/train_config.h"

#include "common/config/reader.h"
#include "env/graph/profile_library.h"
#include "env/tasks/partitioning.h"

namespace pacml::apps {

std::vector<std::string> validate(const TrainConfig& config) {
  std::vector<std::string> problems;
  if (config.seed < 0) problems.emplace_back("seed: must be >= 0");
  if (config.actors < 1 || config.actors > 4096)
    problems.emplace_back("actors: must be in 1..4096");
  return problems;
}

TrainConfig load_train_config(const std::string& path, const std::vector<std::string>& overrides,
                              const std::string& profiles) {
  auto config = read_config<TrainConfig>(ConfigSource::from_file(path, overrides));
  if (!profiles.empty()) config.env.profiles = profiles;
  return config;
}

void check_task(const TrainConfig& config) {
  const auto profiles = env::load_profiles(config.env.profiles, config.env.workload.models);
  static_cast<void>(env::PartitioningWorld(config.env, profiles));
}

Agreement agreement_of(const TrainConfig& config) {
  Agreement agreement{config.env, config.network};
  agreement.env.profiles.clear();
  return agreement;
}

}  // namespace pacml::apps
