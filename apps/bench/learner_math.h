#pragma once

#include <string>

namespace pacml::apps {

// What pacml-learner computes with (model::describe_torch_runtime), asked of that program; a
// sentence that there is none where it was not built. Takes up to a second.
[[nodiscard]] std::string learner_math();

}  // namespace pacml::apps
