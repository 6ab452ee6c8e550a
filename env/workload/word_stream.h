#pragma once

#include <cstddef>
#include <cstdint>

#include "common/ids.h"
#include "common/rng.h"

namespace pacml::env {

// A random stream that is read by position instead of in order: word i is a pure function of (seed,
// name, i), so that nothing has to be drawn before it is needed or copied with a state. The words
// are SplitMix64's. Immutable.
class WordStream {
 public:
  WordStream(Seed seed, std::uint64_t name) : start_(hash_combine(seed.get(), name)) {}
  [[nodiscard]] std::uint64_t word(std::uint64_t position) const {
    return mix64(start_ + kGoldenGamma * (position + 1));
  }

 private:
  std::uint64_t start_;
};

// A uniform index in [0, n) from a uniform word; the bias is below n / 2^64.
[[nodiscard]] inline std::size_t index_of(std::uint64_t word, std::size_t n) {
  return static_cast<std::size_t>((static_cast<unsigned __int128>(word) * n) >> 64);
}

}  // namespace pacml::env
