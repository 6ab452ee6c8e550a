#include "apps/bench/load_knee.h"

#include <algorithm>
#include <vector>

namespace pacml::apps {
namespace {

constexpr double kKneeShare = 0.95;

std::string line_of(const LoadYield& knee) {
  return "knee" +
         (knee.shards > 0 ? " with " + std::to_string(knee.shards) + " shards" : std::string()) +
         ": " + std::to_string(knee.actors) + " actors; more of them add less than 5 %\n";
}

}  // namespace

std::string knees_of(std::span<const LoadYield> points) {
  std::string text;
  std::vector<std::size_t> done;
  for (const LoadYield& first : points) {
    if (std::ranges::find(done, first.shards) != done.end()) continue;
    done.push_back(first.shards);
    double most = 0;
    std::size_t count = 0;
    for (const LoadYield& point : points) {
      if (point.shards != first.shards) continue;
      most = std::max(most, point.per_second);
      ++count;
    }
    if (count < 2) continue;
    const LoadYield* knee = nullptr;
    for (const LoadYield& point : points) {
      if (point.shards != first.shards || point.per_second < kKneeShare * most) continue;
      if (knee == nullptr || point.actors < knee->actors) knee = &point;
    }
    text += line_of(*knee);
  }
  return text;
}

}  // namespace pacml::apps
