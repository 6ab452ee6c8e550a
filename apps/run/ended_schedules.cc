#include "apps/run/ended_schedules.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "common/result.h"
#include "common/spell_number.h"
#include "common/text.h"
#include "learner/checkpoint.h"
#include "learner/state_of_training.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

struct NamedSchedule {
  std::string key;
  learner::ScheduleConfig schedule;
};

// Those of an algorithm's section, which is named after it.
template <class Section>
std::vector<NamedSchedule> schedules_in(const Section& section, AlgorithmKind algorithm) {
  std::vector<NamedSchedule> schedules;
  visit_fields(section, [&]([[maybe_unused]] const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, learner::ScheduleConfig>) {
      schedules.push_back({std::string(name_of(algorithm)) + "." + name, field});
    }
  });
  return schedules;
}

std::vector<NamedSchedule> schedules_of(const TrainConfig& config) {
  switch (config.algorithm) {
    case AlgorithmKind::kImpala:
      return schedules_in(config.impala, config.algorithm);
    case AlgorithmKind::kPpo:
      return schedules_in(config.ppo, config.algorithm);
    case AlgorithmKind::kApex:
      return schedules_in(config.apex, config.algorithm);
    case AlgorithmKind::kExpertIteration:
      return schedules_in(config.expert_iteration, config.algorithm);
    case AlgorithmKind::kReinforce:
      return schedules_in(config.reinforce, config.algorithm);
  }
  return {};
}

bool is_at_its_end(const learner::ScheduleConfig& schedule, const learner::LearningProgress& at) {
  return schedule.kind == learner::ScheduleKind::kLinear && schedule.start != schedule.end &&
         learner::share_done(schedule, at) >= 1;
}

}  // namespace

std::optional<learner::LearningProgress> progress_in(const RunDirectory& run,
                                                     const TrainConfig& config,
                                                     const env::EnvironmentSpec& spec) {
  const auto layout = model::make_layout(model::make_shape(config.network, spec));
  try {
    const learner::CheckpointFolder folder(run.checkpoints(), 1);
    return learner::progress_of(learner::load_newest(folder, layout).checkpoint);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::string ended_schedules(const TrainConfig& config, const learner::LearningProgress& progress,
                            const std::vector<std::string>& changes) {
  std::vector<std::string> ended;
  std::string first;
  for (const auto& [key, schedule] : schedules_of(config)) {
    const bool is_new = std::ranges::any_of(
        changes, [end = key + ".end:"](const std::string& c) { return c.starts_with(end); });
    if (is_new || !is_at_its_end(schedule, progress)) continue;
    if (first.empty() || key.ends_with("learning_rate")) first = key;  // what matters most
    ended.push_back(key + " at " + spell_number(schedule.end));
  }
  if (ended.empty()) return {};
  return "schedules of the run are at their end and stay there: " + join(ended) + "; --set " +
         first + ".end=X goes on at X, a run of another name begins anew";
}

}  // namespace pacml::apps
