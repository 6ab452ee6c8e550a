#include "apps/roles/demonstrations.h"

#include <cstddef>
#include <string>

#include "common/heartbeat.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/feature_check.h"

namespace pacml::apps {
namespace {

// Of all decisions, to one that is shown.
constexpr std::int64_t kMostHidden = 10;
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

void check_bytes(const Observations& observations) {
  if (column_bytes(observations.shape(), observations.counts()) <= kMostBytes) return;
  throw UserError("warm_start.decisions: the first " + std::to_string(observations.size()) +
                  " take more than 2 GiB; ask for fewer");
}

int decision_of(env::Agent& teacher, const env::Environment& environment) {
  const Rest rest;  // one that searches takes the time that it takes
  return teacher.act(environment);
}

}  // namespace

learner::Demonstrations demonstrate(const env::Task& task, env::Agent& teacher,
                                    std::int64_t decisions, Seed run,
                                    const std::function<bool(std::int64_t)>& goes_on) {
  const auto environment = task.make_factory()();
  learner::Demonstrations shown{task.spec().make_observations(), {}};
  std::int64_t all = 0;
  std::int64_t kept = 0;
  for (std::uint64_t episode = 0; kept < decisions; ++episode) {
    const Seed seed = derive(run, Purpose::kDemonstration, episode);
    environment->reset(seed);
    teacher.reset(seed);
    for (bool over = false; !over && kept < decisions; ++all) {
      beat();
      if (!goes_on(kept)) return shown;
      if (all >= kMostHidden * decisions) {
        throw UserError("warm_start.teacher: of " + std::to_string(all) + " decisions only " +
                        std::to_string(kept) + " were for what the task shows");
      }
      environment->observe(shown.observations);
      const int action = decision_of(teacher, *environment);
      const auto mask = shown.observations.mask(static_cast<std::size_t>(kept));
      if (static_cast<std::size_t>(action) < mask.size() &&
          mask[static_cast<std::size_t>(action)] == 1) {
        shown.actions.push_back(action);
        ++kept;
        check_bytes(shown.observations);
      } else {
        shown.observations.pop_row();
      }
      over = environment->step(action).final();
    }
  }
  env::require_finite_features(task.spec(), shown.observations);
  return shown;
}

}  // namespace pacml::apps
