#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/rng.h"

namespace pacml::replay {

// How many of `draws` go to each shard: multinomial with probabilities proportional to `totals`, so
// that drawing so many from each shard, by weight, has the distribution of drawing from one table
// that holds all. Pre: totals >= 0 and finite, their sum > 0. Pure, but for the generator.
[[nodiscard]] std::vector<std::uint32_t> share_draws(std::uint32_t draws,
                                                     std::span<const double> totals, Rng& rng);

}  // namespace pacml::replay
