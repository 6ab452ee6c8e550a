#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace pacml::replay {

struct RateLimiterConfig {
  double samples_per_insert = 0;  // mean draws per inserted item that is aimed at; 0: no limit
  std::int64_t min_size = 1;      // items before the first draw; >= 1
  double error_buffer = 1;        // draws; >= max(1, samples_per_insert) where there is a limit
  bool operator==(const RateLimiterConfig&) const = default;
};

// Who waits for whom.
enum class RateLimit {
  kOpen,             // nobody waits
  kSamplesForItems,  // samples wait: fewer than min_size items
  kSamplesForInserts,
  kInsertsForSamples,
};

// Keeps inserts and samples in proportion, as Reverb does (Cassirer et al. 2021, arXiv:2102.04736):
// with
//     surplus = samples_per_insert * (inserted - min_size) - sampled     (draws that are owed)
// an insert needs surplus + samples_per_insert <= error_buffer, a draw needs surplus - 1 >=
// -error_buffer and min_size items. While there are fewer than min_size items, inserts are always
// allowed. It stalls one side or the other but never both: that would take
//     error_buffer - samples_per_insert < surplus < 1 - error_buffer,
// hence 2 error_buffer < 1 + samples_per_insert, which the bound on error_buffer rules out.
//
// It is asked before a batch, and a batch is never split: either side may overshoot by what is left
// of one batch. Counts are exact up to 2^53. Value type, arithmetic only; thread-confined.
class RateLimiter {
 public:
  struct Counts {
    std::uint64_t inserted = 0;
    std::uint64_t sampled = 0;
    bool operator==(const Counts&) const = default;
  };

  // Pre: `config` keeps the bounds written beside its fields.
  explicit RateLimiter(const RateLimiterConfig& config);

  // `size`: the table's items now.
  [[nodiscard]] bool can_insert(std::size_t size) const;
  [[nodiscard]] bool can_sample(std::size_t size) const;
  void inserted(std::uint64_t items) { counts_.inserted += items; }
  void sampled(std::uint64_t draws) { counts_.sampled += draws; }

  [[nodiscard]] RateLimit limit(std::size_t size) const;
  // How many items may be inserted before inserts have to wait, give or take one; kNoLimit: any
  // number.
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] std::uint64_t insert_room(std::size_t size) const;
  // Who waits for whom and why, as a clause: "samples wait for inserts: 812 of 1000 items".
  [[nodiscard]] std::string describe(std::size_t size) const;

  // What its future depends on besides its configuration, for snapshots.
  [[nodiscard]] const Counts& counts() const { return counts_; }
  void restore(const Counts& counts) { counts_ = counts; }

 private:
  [[nodiscard]] double surplus() const;

  RateLimiterConfig config_;
  Counts counts_;
};

}  // namespace pacml::replay
