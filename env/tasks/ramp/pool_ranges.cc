#include "env/tasks/ramp/pool_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pacml::env {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

void widen(Range& range, double low, double high) {
  range.min = std::min(range.min, low);
  range.max = std::max(range.max, high);
}

}  // namespace

PoolRanges make_pool_ranges(std::span<const JobGraphPtr> graphs,
                            std::span<const ModelFractions> fractions,
                            const PoolRangesOptions& options) {
  PoolRanges r;
  for (Range* range : {&r.sequential_time, &r.max_acceptable_time, &r.fraction, &r.total_memory,
                       &r.total_dependency_bytes, &r.num_ops, &r.num_dependencies,
                       &r.training_steps, &r.op_throughput, &r.max_dependency_bytes}) {
    *range = {kInf, -kInf};
  }
  for (std::size_t m = 0; m < graphs.size(); ++m) {
    if (fractions[m].jobs == 0) continue;
    const JobGraph& g = *graphs[m];
    const double sequential = g.total_compute() * options.time_scale * options.num_training_steps;
    const auto same = [](Range& range, double value) { widen(range, value, value); };
    same(r.sequential_time, sequential);
    widen(r.max_acceptable_time, fractions[m].min * sequential, fractions[m].max * sequential);
    widen(r.fraction, fractions[m].min, fractions[m].max);
    same(r.total_memory, g.total_memory());
    same(r.total_dependency_bytes, g.total_dependency_bytes());
    same(r.num_ops, g.num_ops());
    same(r.num_dependencies, static_cast<double>(g.dependencies().size()));
    same(r.training_steps, options.num_training_steps);
    same(r.op_throughput, g.max_throughput().value / options.time_scale);
    same(r.max_dependency_bytes, g.max_dependency_bytes());
  }
  const double scale = options.max_partitions_in_observation;
  if (!options.normalise_dependencies_by_pool) {
    const double ops = r.num_ops.max * scale;
    r.total_dependency_bytes.max *= std::floor(ops * (ops - 1) / 2);
  }
  r.num_ops.max = std::floor(r.num_ops.max * scale);
  r.num_dependencies.max = 3 * std::floor(r.num_dependencies.max / 2 * scale * 2);
  return r;
}

}  // namespace pacml::env
