#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/ids.h"

namespace pacml {

// SplitMix64's finaliser (Steele, Lea and Flood 2014): a bijection that scatters every bit.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15ULL;

// Order-dependent combination of two hashes.
[[nodiscard]] constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  return mix64(a + kGoldenGamma + mix64(b + kGoldenGamma));
}

// Every random stream is named by (run seed, purpose, index): adding an actor or a consumer never
// shifts the numbers that another one draws.
enum class Purpose : std::uint64_t {
  kEpisode = 1,      // one episode's arrivals; index: the episode
  kExploration = 2,  // an actor's action choices; index: the actor
  kInitialise = 3,   // network weights
  kEvaluation = 4,   // held-out episodes; index: the episode
  kReplay = 5,
  kHeuristic = 6,      // a heuristic policy that draws
  kTuning = 7,         // episodes on which best_constant is chosen
  kMinibatch = 8,      // the order in which an update goes through its batch; index: the update
  kDemonstration = 9,  // episodes that a teacher plays; index: the episode
  kCloning = 10,       // the order in which a pass goes through what it did; index: the pass
  kDegree = 11,        // a rule that partitions each job before a policy places it
  kCluster = 12,       // which of several clusters an episode is on
};

[[nodiscard]] constexpr Seed derive(Seed run, Purpose purpose, std::uint64_t index) {
  const std::uint64_t stream =
      mix64(run.get() + kGoldenGamma * static_cast<std::uint64_t>(purpose));
  return Seed{mix64(stream + kGoldenGamma * (index + 1))};
}

// xoshiro256** (Blackman and Vigna 2018), with distributions of our own so that the numbers are the
// same with every standard library. Value type: copying it copies the stream's position.
// Thread-confined.
class Rng {
 public:
  explicit Rng(Seed seed);

  [[nodiscard]] std::uint64_t next() {
    const auto rotl = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }
  // In [0, 1), 53 random bits.
  [[nodiscard]] double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // In [0, n), without bias. Pre: n > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t n);
  // Standard normal (Box and Muller; both halves are used, so the state holds a spare).
  [[nodiscard]] double normal();
  // Index i with probability weights[i] / sum. Pre: weights >= 0 and finite, their sum > 0.
  [[nodiscard]] std::size_t categorical(std::span<const double> weights);

  // Everything that the stream's future depends on, for checkpoints.
  struct State {
    std::array<std::uint64_t, 4> words{};
    double spare_normal = 0;
    bool has_spare = false;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] State state() const { return {state_, spare_, has_spare_}; }
  void restore(const State& state);

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace pacml
