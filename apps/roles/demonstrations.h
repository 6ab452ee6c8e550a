#pragma once

#include <cstdint>
#include <functional>

#include "common/ids.h"
#include "env/agent.h"
#include "env/task.h"
#include "learner/behaviour_cloning.h"

namespace pacml::apps {

// What `teacher` decides in episodes that it plays, one after another: the first `decisions` of
// them that an observation shows as an action; what it does besides (Environment::takes) it does,
// and nobody is shown. Episodes of seeds that nothing else uses; graphs are indices into the
// task's. A function of its arguments. `goes_on` is asked before each decision with how many there
// are; false ends it early. UserError: ten times as many decisions did not hold that many that are
// shown, these take more than 2 GiB, or as the environment throws it.
[[nodiscard]] learner::Demonstrations demonstrate(const env::Task& task, env::Agent& teacher,
                                                  std::int64_t decisions, Seed run,
                                                  const std::function<bool(std::int64_t)>& goes_on);

}  // namespace pacml::apps
