#pragma once

#include <string>

#include "env/graph/profile.h"

namespace pacml::env {

// The profile as a graph.txt in PipeDream's text format (profile_reader.h), ops and dependencies in
// the profile's order; an optimizer_size where there is one. Times with three decimals, sizes with
// three as well, as profilers print them. What would break a line of the format in a description
// becomes a blank. Pure.
[[nodiscard]] std::string to_graph_txt(const Profile& profile);

}  // namespace pacml::env
