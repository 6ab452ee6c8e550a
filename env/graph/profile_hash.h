#pragma once

#include <cstdint>
#include <span>

#include "env/graph/profile.h"

namespace pacml::env {

// Of all that profiles say, in their order, but for what is for people alone: equal profiles, equal
// hash, in every process. A job graph's own hash (hash_features) is of features, which are shares
// of the graph's greatest: it is the same at twice the time. Pure.
[[nodiscard]] std::uint64_t profile_hash(std::span<const Profile> profiles);

}  // namespace pacml::env
