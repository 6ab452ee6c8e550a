#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/graph/profile.h"
#include "env/graph_features.h"

namespace pacml::env {

// Position of an op in a graph's order; not the op's id.
using OpIndex = std::int32_t;
inline constexpr OpIndex kNoOp = -1;

// A figure and the op that attains it; kNoOp when every figure is 0.
struct Extreme {
  double value = 0;
  OpIndex op = kNoOp;
};

// One training step of a job: the forward pass and its mirror image, the backward pass. Forward op
// i of n has the backward counterpart 2n + 1 - i; forward ops come first, in the profile's order,
// then their counterparts in the same order, so the counterpart of position p is p + n. The last
// forward op feeds the first backward one (the join). Immutable; shared by every environment of a
// process.
class JobGraph {
 public:
  explicit JobGraph(const Profile& profile);

  struct Dependency {
    OpIndex src = 0;
    OpIndex dst = 0;
    double bytes = 0;  // the activation of src
  };

  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] int num_forward() const { return num_forward_; }
  [[nodiscard]] int num_ops() const { return 2 * num_forward_; }
  [[nodiscard]] OpIndex counterpart(OpIndex forward) const { return forward + num_forward_; }

  // Per op, in graph order.
  [[nodiscard]] std::span<const int> ids() const { return ids_; }
  [[nodiscard]] std::span<const double> compute() const { return compute_; }  // time on one device
  [[nodiscard]] std::span<const double> memory() const { return memory_; }    // bytes
  // Per forward op: what its optimiser holds on the servers of its counterpart, besides memory();
  // empty where no op has any. Nothing of it is sent.
  [[nodiscard]] std::span<const double> optimizer_bytes() const { return optimizer_; }
  [[nodiscard]] std::span<const int> depth() const {
    return depth_;
  }  // from the first source: 1; 0: unreachable

  // In graph order: for each op, its successors in successor order.
  [[nodiscard]] std::span<const Dependency> dependencies() const { return dependencies_; }
  [[nodiscard]] std::span<const OpIndex> sources() const { return sources_; }

  // Forward ops in the order in which they are placed (Kahn, first in first out), and the forward
  // predecessors of forward op `op`, in predecessor order.
  [[nodiscard]] std::span<const OpIndex> placement_sequence() const { return placement_sequence_; }
  [[nodiscard]] std::span<const OpIndex> forward_parents(OpIndex op) const;

  // Statistics: sums in graph order, first op among equals.
  [[nodiscard]] double total_compute() const { return total_compute_; }  // of one training step
  [[nodiscard]] double total_memory() const { return total_memory_; }
  [[nodiscard]] double total_dependency_bytes() const { return total_dependency_bytes_; }
  [[nodiscard]] Extreme max_compute() const { return max_compute_; }
  [[nodiscard]] Extreme max_memory() const { return max_memory_; }
  [[nodiscard]] Extreme max_throughput() const { return max_throughput_; }  // memory / compute
  [[nodiscard]] Extreme max_depth() const { return max_depth_; }
  [[nodiscard]] double max_dependency_bytes() const { return max_dependency_bytes_; }
  // Position in dependencies(); -1 when every size is 0.
  [[nodiscard]] int max_dependency() const { return max_dependency_; }

  // Moments of the observation, computed once. Ratios to the maximum (bytes: mean / maximum).
  struct Moments {
    double compute_mean = 0, compute_median = 0;
    double memory_mean = 0, memory_median = 0;
    double bytes_mean = 0, bytes_median = 0;
  };
  [[nodiscard]] const Moments& moments() const { return moments_; }

  // Node features [num_ops, 5]: compute / max, is-max-compute, memory / max, is-max-memory,
  // depth / max. Edge features [num_deps, 2]: bytes / max, is-max. The published observation leaves
  // is-max-compute at 0; `mark_max_compute` puts it right.
  [[nodiscard]] GraphFeaturesPtr features(bool mark_max_compute) const {
    return mark_max_compute ? features_marked_ : features_;
  }

 private:
  void mirror(const Profile& profile);
  void measure();
  void find_depths();
  void order_placement();
  [[nodiscard]] Extreme first_maximum(std::span<const double> values) const;
  [[nodiscard]] GraphFeaturesPtr make_features(bool mark_max_compute) const;

  std::string model_;
  int num_forward_ = 0;
  std::vector<int> ids_;
  std::vector<double> compute_, memory_, activation_, optimizer_;
  std::vector<int> depth_;
  std::vector<Dependency> dependencies_;
  std::vector<OpIndex> sources_;
  std::vector<OpIndex> placement_sequence_;
  std::vector<std::vector<OpIndex>> forward_parents_;
  double total_compute_ = 0, total_memory_ = 0, total_dependency_bytes_ = 0;
  Extreme max_compute_, max_memory_, max_throughput_, max_depth_;
  double max_dependency_bytes_ = 0;
  int max_dependency_ = -1;
  Moments moments_;
  GraphFeaturesPtr features_, features_marked_;
};

using JobGraphPtr = std::shared_ptr<const JobGraph>;

}  // namespace pacml::env
