#pragma once

#include "common/serving/work_window.h"
#include "learner/impala_config.h"
#include "learner/learner_config.h"

namespace pacml::learner {

// How much experience one of IMPALA's learners wants to be under way, so that it has no need to
// wait and nothing grows too old. What is under way is learned from in about the order in which it
// was granted, a batch an update: W decisions are W / batch updates of lag. Of the lag that is
// allowed,
//   a half     is for them (work.most; where less keeps the learner busy, three batches are enough)
//   a quarter  is for the weights, which are refreshed when they are older (wire::refresh_lag)
//   a quarter  is for actors that take longer than others
// A batch is taken in in eight messages or fewer, unless more actors at once are needed.
[[nodiscard]] serving::WorkWindowConfig wanted_work(const ImpalaConfig& impala,
                                                    const LearnerConfig& learner);

}  // namespace pacml::learner
