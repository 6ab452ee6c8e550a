#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/environment.h"

namespace pacml::env {

// The first feature of the rows that is infinite or no number, as its name says: "global load is
// nan", "degree of candidate 3 is inf". What is finite costs one look at each column. Pre: the rows
// are of the spec's shape. Pure.
[[nodiscard]] std::optional<std::string> feature_that_is_not_finite(const ObservationSpec& spec,
                                                                    const Observations& rows);

// What whoever asks a network holds observations against first: out of such a feature it would make
// nothing that can be acted upon, and the blame would fall on its weights. UserError: there is one,
// with the task's name, for its author.
void require_finite_features(const EnvironmentSpec& spec, const Observations& rows);

// A reward, or several of them added up, as a learner is told of it. UserError: it is no number
// that a float holds, with the task's name. Pure.
[[nodiscard]] float finite_reward(std::string_view task, double reward);

}  // namespace pacml::env
