#pragma once

#include <string>
#include <vector>

#include "env/graph/profile.h"

namespace pacml::env {

// The profiles of `models`, in that order; when `models` is empty, of every model there is, sorted
// by name. `directory` holds <model>/graph.txt; when it is empty the built-in model zoo is used, of
// which zoo_models() are then meant.
// UserError for a model that does not exist, with the nearest name, and for a broken file.
[[nodiscard]] std::vector<Profile> load_profiles(const std::string& directory,
                                                 const std::vector<std::string>& models);

}  // namespace pacml::env
