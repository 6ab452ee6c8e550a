#include "replay/mixture.h"

#include <algorithm>

namespace pacml::replay {

std::vector<std::uint32_t> share_draws(std::uint32_t draws, std::span<const double> totals,
                                       Rng& rng) {
  std::vector<std::uint32_t> shares(totals.size(), 0);
  if (std::ranges::count_if(totals, [](double total) { return total > 0; }) == 1) {
    shares[static_cast<std::size_t>(std::ranges::max_element(totals) - totals.begin())] = draws;
    return shares;
  }
  for (std::uint32_t i = 0; i < draws; ++i) ++shares[rng.categorical(totals)];
  return shares;
}

}  // namespace pacml::replay
