#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.h"

namespace pacml {

// Counts of non-negative integers in bounded memory (30 KB), with quantiles: exact below 128,
// within 1/64 of the value above (each power of two is cut into 64 buckets). Thread-confined.
class Histogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1) {
    counts_[bucket_of(value)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    if (times > 0) max_ = std::max(max_, value);
  }
  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  void clear() { *this = Histogram{}; }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }  // 0 when empty
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
  }
  // The smallest bucket's upper end such that at least q * count values are not larger; 0 when
  // empty. Pre: 0 <= q <= 1.
  [[nodiscard]] std::uint64_t quantile(double q) const {
    PACML_CHECK(q >= 0 && q <= 1, "a quantile is in [0, 1]");
    const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && seen >= wanted) return std::min(upper_end(i), max_);
    }
    return max_;
  }

 private:
  static constexpr std::size_t kExact = 128;  // 0 .. 127 have a bucket each
  static constexpr std::size_t kParts = 64;   // buckets per power of two above
  static constexpr std::size_t kBuckets = kExact + (64 - 7) * kParts;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kExact) return static_cast<std::size_t>(value);
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 7;  // >= 1
    return kExact + (shift - 1) * kParts + static_cast<std::size_t>((value >> shift) - kParts);
  }
  static std::uint64_t upper_end(std::size_t bucket) {
    if (bucket < kExact) return bucket;
    const std::size_t shift = (bucket - kExact) / kParts + 1;
    const std::uint64_t lead = kParts + (bucket - kExact) % kParts;
    return (lead << shift) + ((std::uint64_t{1} << shift) - 1);
  }

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kBuckets);
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace pacml
