#pragma once

#include <optional>
#include <string>

#include "env/environment.h"

namespace pacml::env {

// The first thing about a task that cannot be, as a sentence for its author: an observation that
// names a slot which is not there, graphs with edges that lead nowhere, features that are not
// finite or a hash of something else, no metrics. Pure; reads every graph once.
[[nodiscard]] std::optional<std::string> problem_of(const EnvironmentSpec& spec);

}  // namespace pacml::env
