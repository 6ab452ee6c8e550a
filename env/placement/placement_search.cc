#include "env/placement/placement_search.h"

#include <cmath>
#include <limits>
#include <utility>

#include "common/check.h"
#include "env/placement/families.h"

namespace pacml::env {
namespace {

// Keeps the best of what a search has seen.
class Best {
 public:
  explicit Best(PlacementEvaluator& evaluator)
      : evaluator_(evaluator), begin_(evaluator.num_simulations()) {}
  void offer(const GroupPlacement& placement, double runtime_s) {
    if (!found_.device_of_group.empty() && !(runtime_s < found_.runtime_s)) return;
    found_.device_of_group = placement;
    found_.runtime_s = runtime_s;
    found_.improvements.push_back({evaluator_.num_simulations() - begin_, runtime_s});
  }
  [[nodiscard]] FoundPlacement take() { return std::move(found_); }

 private:
  PlacementEvaluator& evaluator_;
  std::int64_t begin_;
  FoundPlacement found_;
};

}  // namespace

FoundPlacement descend(PlacementEvaluator& evaluator, const GroupPlacement& start, int passes,
                       std::int64_t most) {
  const std::int64_t begin = evaluator.num_simulations();
  const auto may_go_on = [&] { return evaluator.num_simulations() - begin < most; };
  const auto order = fifo_topological_order(evaluator.problem().groups->children());
  const auto num_devices = static_cast<std::int32_t>(evaluator.problem().num_devices());
  Best best(evaluator);
  GroupPlacement current = start;
  double now = evaluator.runtime_s(current);
  best.offer(current, now);
  for (int pass = 0; pass < passes; ++pass) {
    bool has_moved = false;
    for (const std::int32_t group : order) {
      std::int32_t& device = current[static_cast<std::size_t>(group)];
      const std::int32_t old = device;
      std::int32_t chosen = old;
      for (std::int32_t d = 0; d < num_devices; ++d) {
        if (d == old || !may_go_on()) continue;
        device = d;
        const double runtime = evaluator.runtime_s(current);
        if (runtime < now) {
          now = runtime;
          chosen = d;
          best.offer(current, now);
        }
      }
      device = chosen;
      has_moved |= chosen != old;
    }
    if (!has_moved || !may_go_on()) break;
  }
  return best.take();
}

FoundPlacement anneal(PlacementEvaluator& evaluator, const GroupPlacement& start,
                      std::int64_t simulations, std::uint64_t seed, Cooling cooling) {
  const std::size_t num_groups = evaluator.problem().num_groups();
  const std::size_t num_devices = evaluator.problem().num_devices();
  Best best(evaluator);
  GroupPlacement current = start;
  double now = evaluator.runtime_s(current);
  best.offer(current, now);
  if (num_devices == 1 || simulations <= 0) return best.take();
  SplitMix draws(seed);
  double temperature = cooling.from * now;
  const double shrink = std::pow(cooling.to / cooling.from, 1.0 / static_cast<double>(simulations));
  for (std::int64_t i = 0; i < simulations; ++i) {
    std::int32_t& device = current[draws.below(num_groups)];
    const std::int32_t old = device;
    const std::uint64_t step = 1 + draws.below(num_devices - 1);
    device = static_cast<std::int32_t>((static_cast<std::uint64_t>(old) + step) % num_devices);
    const double runtime = evaluator.runtime_s(current);
    if (runtime <= now || draws.unit() < std::exp((now - runtime) / temperature)) {
      now = runtime;
      best.offer(current, now);
    } else {
      device = old;
    }
    temperature *= shrink;
  }
  return best.take();
}

FoundPlacement improve(PlacementEvaluator& evaluator, const GroupPlacement& start,
                       std::int64_t simulations, std::uint64_t seed) {
  PACML_CHECK(simulations >= 1, "a search of at least the simulation of where it starts");
  const std::int64_t begin = evaluator.num_simulations();
  FoundPlacement found = descend(evaluator, start, std::numeric_limits<int>::max(), simulations);
  const std::int64_t used = evaluator.num_simulations() - begin;
  if (simulations - used < 2) return found;
  FoundPlacement annealed = anneal(evaluator, found.device_of_group, simulations - used - 1, seed);
  if (!(annealed.runtime_s < found.runtime_s)) return found;
  for (auto improvement : annealed.improvements) {
    if (!(improvement.runtime_s < found.runtime_s)) continue;
    improvement.simulations += used;
    found.improvements.push_back(improvement);
  }
  found.device_of_group = std::move(annealed.device_of_group);
  found.runtime_s = annealed.runtime_s;
  return found;
}

std::optional<FoundPlacement> enumerate(PlacementEvaluator& evaluator, std::int64_t most) {
  const std::size_t num_groups = evaluator.problem().num_groups();
  const auto num_devices = static_cast<std::int32_t>(evaluator.problem().num_devices());
  std::int64_t count = 1;
  for (std::size_t g = 0; g < num_groups; ++g) {
    if (count > most / num_devices) return std::nullopt;
    count *= num_devices;
  }
  Best best(evaluator);
  GroupPlacement current(num_groups, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    best.offer(current, evaluator.runtime_s(current));
    for (std::int32_t& device : current) {
      if (++device < num_devices) break;
      device = 0;
    }
  }
  return best.take();
}

}  // namespace pacml::env
