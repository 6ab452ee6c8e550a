#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/rng.h"

namespace pacml::learner {

// Puts `rows` into a random order and hands them to `learn`, std::span<const std::uint32_t>, in
// minibatches of nearly one size, none larger than `most`; until it returns false. Whether it never
// did. Pre: most > 0.
template <class Learn>
bool for_each_minibatch(std::vector<std::uint32_t>& rows, std::size_t most, Rng& rng,
                        Learn&& learn) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng.below(i)]);
  const std::size_t pieces = (rows.size() + most - 1) / most;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t begin = rows.size() * piece / pieces;
    const std::size_t end = rows.size() * (piece + 1) / pieces;
    if (!learn(std::span<const std::uint32_t>(rows).subspan(begin, end - begin))) return false;
  }
  return true;
}

}  // namespace pacml::learner
