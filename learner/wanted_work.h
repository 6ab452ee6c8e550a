#pragma once

#include <cstdint>

#include "common/serving/work_window.h"
#include "learner/learner_config.h"

namespace pacml::learner {

// What an algorithm of sequences takes at a time.
struct UpdateSize {
  std::int64_t batch_decisions = 1;  // >= 1
  std::int64_t max_policy_lag = 0;   // versions; >= 0
};

// How much experience a learner of sequences wants to be under way, so that it has no need to
// wait and nothing grows too old. What is under way is learned from in about the order in which it
// was granted, a batch an update: W decisions are W / batch updates of lag. Of the lag that is
// allowed,
//   a half at most    is for them (work.most; where less keeps the learner busy, three batches)
//   half of the rest  is for the weights, which are refreshed when they are older (refresh_lag)
//   the other half    is for actors that take longer than others
// A batch is taken in in eight messages or fewer, unless more actors at once are needed, and whole
// messages make it, as nearly as unrolls allow.
[[nodiscard]] serving::WorkWindowConfig wanted_work(const UpdateSize& update,
                                                    const LearnerConfig& learner);

// Weights so many versions older than the newest go to an actor before it acts; newer ones do. All
// that it derives from weights is computed anew with them, so less often is better, as far as the
// lag that is allowed goes. >= 1.
[[nodiscard]] std::uint64_t refresh_lag(const serving::WorkWindow& work,
                                        std::uint64_t max_policy_lag);

}  // namespace pacml::learner
