#pragma once

#include <optional>
#include <vector>

#include "learner/algorithm_state.h"
#include "learner/checkpoint.h"
#include "learner/schedule.h"

// What those who know no algorithm find in what NetworkTraining saves: it and these functions alone
// know what the entries are called.

namespace pacml::learner {

// What an algorithm goes on from. States of old checkpoints do not say where in its run training
// was: there, where the run had an end, its share stood among the counters, else schedules followed
// the decisions. They get it as of today. Pure.
[[nodiscard]] AlgorithmState state_to_resume(const Checkpoint& checkpoint);

// How far learning was, also of an old one; nullopt: it does not say. Pure.
[[nodiscard]] std::optional<LearningProgress> progress_of(const Checkpoint& checkpoint);

// The weights as they are in training, which live as long as the state; null: it holds none. Pure.
[[nodiscard]] const std::vector<float>* parameters_of(const AlgorithmState& state);

}  // namespace pacml::learner
