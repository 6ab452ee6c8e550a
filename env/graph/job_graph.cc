#include "env/graph/job_graph.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/index.h"
#include "env/numerics.h"

namespace pacml::env {

JobGraph::JobGraph(const Profile& profile)
    : model_(profile.model), num_forward_(static_cast<int>(profile.ops.size())) {
  PACML_CHECK(num_forward_ > 0, "a job needs ops");
  mirror(profile);
  measure();
  find_depths();
  order_placement();
  features_ = make_features(false);
  features_marked_ = make_features(true);
}

std::span<const OpIndex> JobGraph::forward_parents(OpIndex op) const {
  return forward_parents_[at(op)];
}

void JobGraph::mirror(const Profile& profile) {
  const int n = num_forward_;
  std::vector<OpIndex> position_of_id(static_cast<std::size_t>(2 * n + 1), kNoOp);
  for (const auto& op : profile.ops) {
    position_of_id[static_cast<std::size_t>(op.id)] = static_cast<OpIndex>(ids_.size());
    ids_.push_back(op.id);
    compute_.push_back(op.forward_time);
    memory_.push_back(op.activation_bytes + op.parameter_bytes);
    activation_.push_back(op.activation_bytes);
  }
  for (const auto& op : profile.ops) {
    ids_.push_back(2 * n + 1 - op.id);
    compute_.push_back(op.backward_time);
    memory_.push_back(op.activation_bytes + op.parameter_bytes);
    activation_.push_back(op.activation_bytes);
  }

  if (std::ranges::any_of(profile.ops, [](const auto& op) { return op.optimizer_bytes > 0; })) {
    for (const auto& op : profile.ops) optimizer_.push_back(op.optimizer_bytes);
  }

  std::vector<std::vector<OpIndex>> successors(at(2 * n));
  for (const auto& [from, to] : profile.dependencies) {
    successors[at(position_of_id[static_cast<std::size_t>(from)])].push_back(
        position_of_id[static_cast<std::size_t>(to)]);
  }
  for (OpIndex u = 0; u < n; ++u) {
    for (const OpIndex v : successors[at(u)])
      successors[at(counterpart(v))].push_back(counterpart(u));
  }
  const OpIndex last = position_of_id[static_cast<std::size_t>(n)];
  successors[at(last)].push_back(counterpart(last));

  forward_parents_.resize(at(n));
  for (OpIndex u = 0; u < 2 * n; ++u) {
    for (const OpIndex v : successors[at(u)]) {
      dependencies_.push_back({u, v, activation_[at(u)]});
      if (v < n) forward_parents_[at(v)].push_back(u);
    }
  }
}

Extreme JobGraph::first_maximum(std::span<const double> values) const {
  Extreme best;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > best.value) best = {values[i], static_cast<OpIndex>(i)};
  }
  return best;
}

void JobGraph::measure() {
  for (const double c : compute_) total_compute_ += c;
  for (const double m : memory_) total_memory_ += m;
  for (std::size_t d = 0; d < dependencies_.size(); ++d) {
    const double bytes = dependencies_[d].bytes;
    total_dependency_bytes_ += bytes;
    if (bytes > max_dependency_bytes_) {
      max_dependency_bytes_ = bytes;
      max_dependency_ = static_cast<int>(d);
    }
  }
  max_compute_ = first_maximum(compute_);
  max_memory_ = first_maximum(memory_);
  std::vector<double> throughput(compute_.size(), 0.0);
  for (std::size_t i = 0; i < compute_.size(); ++i) {
    if (compute_[i] != 0) throughput[i] = memory_[i] / compute_[i];
  }
  max_throughput_ = first_maximum(throughput);

  const auto ratios = [](std::span<const double> values, double maximum) {
    std::vector<double> out(values.begin(), values.end());
    for (double& v : out) v = maximum != 0 ? v / maximum : 0;
    return out;
  };
  const auto compute = ratios(compute_, max_compute_.value);
  const auto memory = ratios(memory_, max_memory_.value);
  moments_ = {pairwise_mean(compute), median(compute), pairwise_mean(memory), median(memory), 0, 0};
  if (max_dependency_bytes_ > 0) {
    std::vector<double> bytes;
    for (const auto& d : dependencies_) bytes.push_back(d.bytes);
    moments_.bytes_mean = pairwise_mean(bytes) / max_dependency_bytes_;
    moments_.bytes_median = median(bytes) / max_dependency_bytes_;
  }
}

void JobGraph::find_depths() {
  std::vector<std::vector<OpIndex>> successors(compute_.size());
  std::vector<bool> has_parent(compute_.size(), false);
  for (const auto& d : dependencies_) {
    successors[at(d.src)].push_back(d.dst);
    has_parent[at(d.dst)] = true;
  }
  for (OpIndex op = 0; op < num_ops(); ++op) {
    if (!has_parent[at(op)]) sources_.push_back(op);
  }
  PACML_CHECK(!sources_.empty(), "a profile without a cycle has a source");
  depth_.assign(compute_.size(), 0);
  std::vector<OpIndex> queue = {sources_.front()};
  depth_[at(queue.front())] = 1;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const OpIndex v : successors[at(queue[next])]) {
      if (depth_[at(v)] != 0) continue;
      depth_[at(v)] = depth_[at(queue[next])] + 1;
      queue.push_back(v);
    }
  }
  max_depth_ = first_maximum(std::vector<double>(depth_.begin(), depth_.end()));
}

void JobGraph::order_placement() {
  std::vector<std::size_t> pending(at(num_forward_));
  for (OpIndex op = 0; op < num_forward_; ++op) {
    pending[at(op)] = forward_parents_[at(op)].size();
    if (pending[at(op)] == 0) placement_sequence_.push_back(op);
  }
  std::vector<std::vector<OpIndex>> children(at(num_forward_));
  for (const auto& d : dependencies_) {
    if (d.src < num_forward_ && d.dst < num_forward_) children[at(d.src)].push_back(d.dst);
  }
  for (std::size_t next = 0; next < placement_sequence_.size(); ++next) {
    for (const OpIndex child : children[at(placement_sequence_[next])]) {
      if (--pending[at(child)] == 0) placement_sequence_.push_back(child);
    }
  }
  PACML_CHECK(placement_sequence_.size() == at(num_forward_), "the forward graph has a cycle");
}

GraphFeaturesPtr JobGraph::make_features(bool mark_max_compute) const {
  auto graph = std::make_shared<GraphFeatures>();
  graph->num_nodes = num_ops();
  graph->num_edges = static_cast<int>(dependencies_.size());
  graph->node_width = 5;
  graph->edge_width = 2;
  const auto ratio = [](double value, double maximum) {
    return maximum != 0 ? static_cast<float>(value / maximum) : 0.0F;
  };
  for (OpIndex op = 0; op < num_ops(); ++op) {
    const bool is_max_compute = mark_max_compute && op == max_compute_.op;
    for (const float f :
         {ratio(compute_[at(op)], max_compute_.value), is_max_compute ? 1.0F : 0.0F,
          ratio(memory_[at(op)], max_memory_.value), op == max_memory_.op ? 1.0F : 0.0F,
          ratio(depth_[at(op)], max_depth_.value)}) {
      graph->node_features.push_back(f);
    }
  }
  for (std::size_t d = 0; d < dependencies_.size(); ++d) {
    graph->edge_features.push_back(ratio(dependencies_[d].bytes, max_dependency_bytes_));
    graph->edge_features.push_back(static_cast<int>(d) == max_dependency_ ? 1.0F : 0.0F);
    graph->edge_src.push_back(dependencies_[d].src);
    graph->edge_dst.push_back(dependencies_[d].dst);
  }
  graph->hash = hash_features(*graph);
  return graph;
}

}  // namespace pacml::env
