#include "apps/train_config.h"

#include "common/config/reader.h"

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

Agreement agreement_of(const TrainConfig& config) {
  Agreement agreement{config.env, config.network};
  agreement.env.profiles.clear();
  return agreement;
}

}  // namespace pacml::apps
