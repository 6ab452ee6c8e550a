#include "bench/sampling_structures.h"

#include <bit>
#include <cmath>

namespace pacml::bench {

BinarySumTree::BinarySumTree(std::size_t capacity)
    : leaves_(std::bit_ceil(capacity)), nodes_(2 * leaves_) {}

void BinarySumTree::set(std::uint32_t index, double weight) {
  std::size_t node = leaves_ + index;
  nodes_[node] = weight;
  while (node > 1) {
    node /= 2;
    nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
  }
}

void BinarySumTree::set(std::span<const SumTree::Entry> entries) {
  for (const auto& entry : entries) set(entry.index, entry.weight);
}

void BinarySumTree::draw(Rng& rng, std::span<std::uint32_t> indices) const {
  for (auto& index : indices) {
    double target = rng.uniform() * nodes_[1];
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      if (target >= nodes_[node] && nodes_[node + 1] > 0) {
        target -= nodes_[node];
        ++node;
      }
    }
    index = static_cast<std::uint32_t>(node - leaves_);
  }
}

void ExponentBuckets::set(std::uint32_t index, double weight) {
  Place& place = places_[index];
  if (place.bucket != kNowhere) {
    auto& members = buckets_[place.bucket];
    sums_[place.bucket] -= members[place.position].mantissa;
    members[place.position] = members.back();
    places_[members[place.position].index].position = place.position;
    members.pop_back();
    place.bucket = kNowhere;
  }
  if (weight == 0) return;
  int exponent = 0;  // weight = fraction * 2^exponent, the fraction from one half to 1
  const double fraction = std::frexp(weight, &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 40));
  const auto bucket = static_cast<std::uint32_t>(exponent - 1 + kBuckets / 2);
  places_[index] = {bucket, static_cast<std::uint32_t>(buckets_[bucket].size())};
  buckets_[bucket].push_back({index, mantissa});
  sums_[bucket] += mantissa;
}

void ExponentBuckets::set(std::span<const SumTree::Entry> entries) {
  for (const auto& entry : entries) __builtin_prefetch(&places_[entry.index], 1);
  for (const auto& entry : entries) {
    const Place place = places_[entry.index];
    if (place.bucket == kNowhere) continue;
    __builtin_prefetch(&buckets_[place.bucket][place.position], 1);
    __builtin_prefetch(&places_[buckets_[place.bucket].back().index], 1);
  }
  for (const auto& entry : entries) set(entry.index, entry.weight);
}

void ExponentBuckets::draw(Rng& rng, std::span<std::uint32_t> indices) const {
  std::array<double, kBuckets> prefix{};  // over the buckets that hold something
  std::array<std::size_t, kBuckets> bucket_of{};
  std::size_t used = 0;
  double total = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (sums_[bucket] == 0) continue;
    total += std::ldexp(static_cast<double>(sums_[bucket]), static_cast<int>(bucket));
    prefix[used] = total;
    bucket_of[used++] = bucket;
  }
  std::vector<const std::vector<Member>*> chosen(indices.size());
  std::vector<std::uint32_t> missing(indices.size());
  for (std::uint32_t i = 0; i < missing.size(); ++i) {
    missing[i] = i;
    const double target = rng.uniform() * total;
    std::size_t at = 0;
    for (std::size_t k = 0; k + 1 < used; ++k) at += target >= prefix[k] ? 1U : 0U;
    chosen[i] = &buckets_[bucket_of[at]];
  }
  // A rejected draw tries again in its bucket, together with the others that were rejected.
  std::vector<const Member*> candidates(indices.size());
  while (!missing.empty()) {
    for (const std::uint32_t i : missing) {
      candidates[i] = &(*chosen[i])[rng.below(chosen[i]->size())];
      __builtin_prefetch(candidates[i]);
    }
    std::size_t kept = 0;
    for (const std::uint32_t i : missing) {
      indices[i] = candidates[i]->index;
      if ((rng.next() >> 24) >= candidates[i]->mantissa) missing[kept++] = i;
    }
    missing.resize(kept);
  }
}

void WideSumTree::draw(Rng& rng, std::span<std::uint32_t> indices) const {
  std::vector<double> targets(indices.size());
  for (auto& target : targets) target = rng.uniform() * tree_.total();
  tree_.find(targets, indices);
}

}  // namespace pacml::bench
