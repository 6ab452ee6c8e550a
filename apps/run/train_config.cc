#include "apps/run/train_config.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "apps/run/largest_messages.h"
#include "apps/run/most_nodes.h"
#include "common/config/reader.h"
#include "common/experience/transitions.h"
#include "common/result.h"
#include "replay/payload_store.h"

namespace pacml::apps {

namespace {

std::string in_hexadecimal(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, hash);
  return text.data();
}

// Messages must get through, as far as their sizes are known before the task is made.
void check_messages(const TrainConfig& config, std::vector<std::string>& problems) {
  if (!validate(config.actor).empty() || !validate(config.transitions).empty() ||
      !validate(config.apex).empty() || !validate(config.reinforce).empty() ||
      !config.env.is_valid()) {
    return;
  }
  for (std::string& problem : too_large(config, config.env.observation())) {
    problems.push_back(std::move(problem));
  }
}

// What waits for its n steps, of every agent of every environment, may all be sent at once.
void check_open_windows(const TrainConfig& config, std::vector<std::string>& problems) {
  if (!uses_replay(config.algorithm) || !config.env.is_valid()) return;
  if (!validate(config.actor).empty() || !validate(config.transitions).empty()) return;
  const std::int64_t agents = config.env.observation().agents;
  constexpr std::int64_t kMost = 1 << 19;
  if (config.transitions.n_step * config.actor.environments * agents <= kMost) return;
  problems.push_back("transitions.n_step: times actor.environments, times the " +
                     std::to_string(agents) + " agents of the task, must be at most " +
                     std::to_string(kMost));
}

// Each replica has a clock of its own, and all must make the same step.
void check_schedules(const TrainConfig& config, std::vector<std::string>& problems) {
  if (config.learner.replicas == 1) return;
  const auto check = [&](const std::string& key, const learner::ScheduleConfig& schedule) {
    if (schedule.over != learner::ScheduleSpan::kRun) return;
    problems.push_back(key + ".over: run is for one learner; several follow the decisions");
  };
  if (config.algorithm == AlgorithmKind::kImpala) {
    check("impala.learning_rate", config.impala.learning_rate);
    check("impala.entropy_cost", config.impala.entropy_cost);
  }
  if (config.algorithm == AlgorithmKind::kApex) {
    check("apex.learning_rate", config.apex.learning_rate);
  }
}

}  // namespace

bool names_code(const ConfigSource& source) {
  const ConfigNode* const env = source.root().find("env");
  const ConfigNode* const task = env != nullptr ? env->find("task") : nullptr;
  return task != nullptr && task->text == "python";
}

TrainConfig read_config_without_task(const ConfigSource& given) {
  constexpr std::string_view kTask[] = {"env"};
  const ConfigSource source = given.without(kTask);
  TrainConfig config;
  config_detail::Problems problems;
  config_detail::read_value(config, source.root(), "", problems);
  problems.throw_if_any();
  const auto check = [&](std::string_view name, const auto& section) {
    if (name == kTask[0]) return;
    const ConfigNode* const node = source.root().find(name);
    config_detail::validate_all(section, node != nullptr ? *node : ConfigNode(), std::string(name),
                                problems);
  };
  visit_fields(std::as_const(config), check);
  problems.throw_if_any();
  return config;
}

std::vector<std::string> validate(const TrainConfig& config) {
  std::vector<std::string> problems;
  if (config.seed < 0) problems.emplace_back("seed: must be >= 0");
  if (config.actors < 1 || config.actors > kMostActors)
    problems.emplace_back("actors: must be in 1.." + std::to_string(kMostActors));
  check_messages(config, problems);
  check_schedules(config, problems);
  check_open_windows(config, problems);
  if (config.env.is_valid()) {
    const ObservationSpec shown = config.env.observation();
    if (const auto wrong = pacml::validate(shown); !wrong.empty()) {
      problems.push_back("env: the task shows what cannot be: " + wrong.front());
      return problems;  // what follows looks things up by it
    }
    for (std::string& problem : model::unreadable(config.network, shown)) {
      problems.push_back(std::move(problem));
    }
  }
  const bool one_learner = config.algorithm == AlgorithmKind::kPpo ||
                           config.algorithm == AlgorithmKind::kExpertIteration;
  if (one_learner && config.learner.replicas > 1) {
    problems.push_back("learner.replicas: algorithm: " + std::string(name_of(config.algorithm)) +
                       " makes an update in steps of its own and has one learner; impala and apex "
                       "have several");
  }
  if (config.algorithm == AlgorithmKind::kReinforce && config.learner.replicas > 1) {
    problems.emplace_back(
        "learner.replicas: algorithm: reinforce has its baselines in one learner; impala and apex "
        "have several");
  }
  if (config.algorithm == AlgorithmKind::kApex && config.learner.replicas > 1 &&
      config.learner.replicas > config.apex.batch_size) {
    problems.emplace_back(
        "learner.replicas: must be at most apex.batch_size, of which each draws a share");
  }
  if (config.warm_start.policy == WarmStart::kBestConstant &&
      config.network.head == model::HeadKind::kCandidates) {
    problems.emplace_back(
        "warm_start.policy: leans towards a degree by its place, and network.head: candidates does "
        "not know candidates by their places; set it to none");
  }
  const bool learns_action_values = config.algorithm == AlgorithmKind::kApex ||
                                    config.algorithm == AlgorithmKind::kExpertIteration;
  if (config.warm_start.policy == WarmStart::kImitate && learns_action_values) {
    problems.push_back("warm_start.policy: imitates by what a policy prefers, and algorithm: " +
                       std::string(name_of(config.algorithm)) +
                       " learns what actions are worth; impala, ppo and reinforce have a policy");
  }
  return problems;
}

std::int64_t held_back(const TrainConfig& config) {
  return config.algorithm == AlgorithmKind::kReinforce ? config.reinforce.longest_episode : 0;
}

learner::UpdateSize update_size_of(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
      return {config.impala.batch_decisions, config.impala.max_policy_lag};
    case AlgorithmKind::kPpo:
      return {config.ppo.batch_decisions, config.ppo.max_policy_lag};
    case AlgorithmKind::kApex:
      return {config.apex.batch_size, config.apex.max_policy_lag};
    case AlgorithmKind::kExpertIteration:
      return {config.expert_iteration.batch_decisions, config.expert_iteration.max_policy_lag};
    case AlgorithmKind::kReinforce:
      return {config.reinforce.batch_decisions, config.reinforce.max_policy_lag};
  }
  throw std::logic_error("unknown AlgorithmKind");
}

TrainConfig load_train_config(const std::string& path, const std::vector<std::string>& overrides,
                              const std::string& profiles) {
  auto config = read_config<TrainConfig>(ConfigSource::from_file(path, overrides));
  if (!profiles.empty()) config.env.set_profiles(profiles);
  return config;
}

void check_replay_fits(const TrainConfig& config, const env::Task& task) {
  const replay::TableConfig& table = config.replay.table;
  if (!uses_replay(config.algorithm) || table.max_bytes == 0) return;
  const auto item = static_cast<std::int64_t>(replay::PayloadStore::footprint(
      packed_bytes(task.spec().observation.shape(), most_nodes(task.spec()))));
  if (table.max_bytes / item >= table.min_size) return;
  throw UserError("replay.table.max_bytes: " + std::to_string(table.max_bytes) +
                  " bytes do not hold replay.table.min_size, " + std::to_string(table.min_size) +
                  " transitions of " + std::to_string(item) + " bytes each");
}

Duration silence_of(const TrainConfig& config) {
  const double seconds = config.supervision.silence_seconds.count();
  if (seconds == 0 || config.learner.replicas == 1) return in_seconds(seconds);
  return in_seconds(seconds + config.learner.all_reduce_seconds.count());
}

std::unique_ptr<env::Agent> make_teacher(const TrainConfig& config, const env::Task& task) {
  if (config.warm_start.policy != WarmStart::kImitate) return nullptr;
  try {
    return env::make_baseline(task, config.warm_start.teacher);
  } catch (const UserError& error) {
    throw UserError(std::string("warm_start.teacher: ") + error.what());
  }
}

void check_against_task(const TrainConfig& config, const env::Task& task) {
  check_replay_fits(config, task);
  check_messages_fit(config, task);
  static_cast<void>(make_teacher(config, task));
}

std::map<std::string, std::string> graph_hashes(const env::EnvironmentSpec& spec) {
  std::map<std::string, std::string> hashes;
  for (std::size_t i = 0; i < spec.graphs.size(); ++i) {
    hashes[spec.graph_names[i]] = in_hexadecimal(spec.graphs[i]->hash.get());
  }
  return hashes;
}

Agreement agreement_of(const TrainConfig& config, const env::Task& task) {
  Agreement agreement;
  agreement.algorithm = config.algorithm;
  agreement.env = config.env;
  agreement.network = config.network;
  if (config.algorithm == AlgorithmKind::kApex) {
    agreement.heads = config.apex.heads;
    agreement.transitions = config.transitions;
  }
  if (config.algorithm == AlgorithmKind::kExpertIteration) agreement.expert = config.expert;
  agreement.env.forget_folders();
  const env::EnvironmentSpec& spec = task.spec();
  agreement.graphs = graph_hashes(spec);
  for (const auto& [setting, hash] : spec.inputs) agreement.inputs[setting] = in_hexadecimal(hash);
  return agreement;
}

}  // namespace pacml::apps
