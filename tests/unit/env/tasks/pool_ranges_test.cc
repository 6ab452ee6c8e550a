#include "env/tasks/ramp/pool_ranges.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

// 4 ops, 3 dependencies of 1e9, 5e8 and 5e8 bytes; 8 a training step.
JobGraphPtr chain() {
  return testing::make_graph(testing::make_profile(
      {{1, "A", 1, 3, 10e8, 0}, {2, "B", 2, 2, 5e8, 5e8}}, {{1, 2}}, "chain"));
}

// 2 ops, 1 dependency of 3e9 bytes; 2 a training step.
JobGraphPtr single() { return testing::make_graph(testing::single_op(1, 1, 3e9, 1e9, "single")); }

const std::vector<ModelFractions> kBoth = {{.jobs = 7, .min = 0.5, .max = 1},
                                           {.jobs = 2, .min = 0.25, .max = 0.25}};

void check_range(const Range& range, double min, double max) {
  CHECK(range.min == min);
  CHECK(range.max == max);
}

TEST_CASE("ranges span the pool's jobs; three maxima are enlarged as published", "[ranges]") {
  const std::vector<JobGraphPtr> graphs = {single(), chain()};
  const PoolRanges r = make_pool_ranges(graphs, kBoth, {});
  check_range(r.sequential_time, 100, 400);
  check_range(r.max_acceptable_time, 50, 100);
  check_range(r.fraction, 0.25, 1);
  check_range(r.total_memory, 4e9, 8e9);
  check_range(r.training_steps, 50, 50);
  check_range(r.op_throughput, 1e9, 4e9);
  check_range(r.max_dependency_bytes, 1e9, 3e9);
  check_range(r.num_ops, 2, 4);
  check_range(r.num_dependencies, 1, 3 * 3);
  // The largest total in a complete graph of 4 ops.
  check_range(r.total_dependency_bytes, 2e9, 3e9 * 6);
}

TEST_CASE("the total dependency size can be normalised by the pool alone", "[ranges]") {
  const std::vector<JobGraphPtr> graphs = {single(), chain()};
  const PoolRanges r = make_pool_ranges(graphs, kBoth, {.normalise_dependencies_by_pool = true});
  check_range(r.total_dependency_bytes, 2e9, 3e9);
}

TEST_CASE("partitions in the observation scale the enlarged maxima", "[ranges]") {
  const std::vector<JobGraphPtr> graphs = {single(), chain()};
  const PoolRanges r = make_pool_ranges(graphs, kBoth, {.max_partitions_in_observation = 3});
  check_range(r.num_ops, 2, 12);
  check_range(r.num_dependencies, 1, 27);
  check_range(r.total_dependency_bytes, 2e9, 3e9 * 66);
}

TEST_CASE("models without jobs in the pool do not count", "[ranges]") {
  const std::vector<JobGraphPtr> graphs = {single(), chain()};
  const PoolRanges r = make_pool_ranges(graphs, std::vector{kBoth[0], ModelFractions{}}, {});
  check_range(r.sequential_time, 100, 100);
  check_range(r.fraction, 0.5, 1);
  check_range(r.num_ops, 2, 2);
}

TEST_CASE("times and throughputs are in simulated time", "[ranges]") {
  const std::vector<JobGraphPtr> graphs = {single()};
  const PoolRanges r = make_pool_ranges(graphs, std::vector{kBoth[0]},
                                        {.time_scale = 0.5, .num_training_steps = 10});
  check_range(r.sequential_time, 10, 10);
  check_range(r.max_acceptable_time, 5, 10);
  check_range(r.training_steps, 10, 10);
  check_range(r.op_throughput, 8e9, 8e9);
}

TEST_CASE("a value in an empty range is 1", "[ranges]") {
  CHECK(Range{2, 2}.normalise(2) == 1);
  CHECK(Range{2, 4}.normalise(2) == 0);
  CHECK(Range{2, 4}.normalise(3.5) == 0.75);
}

}  // namespace
}  // namespace pacml::env
