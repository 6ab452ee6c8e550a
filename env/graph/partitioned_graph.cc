#include "env/graph/partitioned_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.h"
#include "common/index.h"

namespace pacml::env {

int pieces_of(double cost, double quantum, int degree) {
  const double quanta = std::ceil(cost / quantum);
  const double even = 2 * std::ceil(quanta / 2);
  return static_cast<int>(std::max(1.0, std::min(even, static_cast<double>(degree))));
}

std::size_t partitioned_bytes(const JobGraph& graph, int degree, double quantum) {
  // Of the lists of PartitionedGraph, and as much again: they grow by doubling.
  constexpr std::size_t kPerDependency = 2 * (3 * sizeof(std::int32_t) + sizeof(double) + 1 + 4);
  constexpr std::size_t kPerOp = 2 * (2 * sizeof(double) + 2 * sizeof(std::int32_t));
  std::vector<std::size_t> pieces;
  std::size_t ops = 0;
  std::size_t dependencies = 0;
  for (OpIndex f = 0; f < graph.num_forward(); ++f) {
    pieces.push_back(at(pieces_of(graph.compute()[at(f)], quantum, degree)));
    ops += 2 * pieces.back();
    dependencies += pieces.back() * (pieces.back() - 1);  // siblings of the backward pass
  }
  const auto pieces_at = [&](OpIndex op) { return pieces[at(op) % pieces.size()]; };
  for (const auto& d : graph.dependencies()) dependencies += pieces_at(d.src) * pieces_at(d.dst);
  return dependencies * kPerDependency + ops * kPerOp;
}

// Cuts ops one after another. Ops and dependencies keep the number under which they were made; what
// was cut away leaves dead dependencies behind in its neighbours' lists, which readers skip.
class PartitionedGraph::Builder {
 public:
  Builder(const JobGraph& graph, double time_scale)
      : memory_(graph.memory().begin(), graph.memory().end()) {
    const auto n = at(graph.num_ops());
    for (const double c : graph.compute()) compute_.push_back(c * time_scale);
    for (OpIndex op = 0; op < graph.num_ops(); ++op) origin_.push_back(op);
    successors_.resize(n);
    predecessors_.resize(n);
    is_cut_.assign(n, false);
    for (const auto& d : graph.dependencies()) connect(d.src, d.dst, memory_[at(d.src)]);
  }

  // Replaces `op` by `k` pieces; returns the first one's number. `sync`: siblings exchange
  // gradients.
  OpIndex cut(OpIndex op, int k, bool sync) {
    const auto ins = cut_off(predecessors_[at(op)], src_);
    const auto outs = cut_off(successors_[at(op)], dst_);
    is_cut_[at(op)] = true;
    const auto first = static_cast<OpIndex>(compute_.size());
    const double pieces = k;
    for (int j = 0; j < k; ++j) {
      compute_.push_back(compute_[at(op)] / pieces);
      memory_.push_back(memory_[at(op)] / pieces);
      origin_.push_back(op);
      successors_.emplace_back();
      predecessors_.emplace_back();
      is_cut_.push_back(false);
    }
    for (OpIndex piece = first; piece < first + k; ++piece) {
      for (const OpIndex u : ins) connect(u, piece, memory_[at(u)] / pieces);
      for (const OpIndex w : outs) connect(piece, w, memory_[at(w)] / pieces);
    }
    for (OpIndex l = first; sync && l < first + k; ++l) {
      for (OpIndex m = first; m < first + k; ++m) {
        if (l != m) connect(l, m, memory_[at(l)]);
      }
    }
    return first;
  }

  // Writes the final orders into `out`; returns each op's in-dependencies in predecessor order.
  std::vector<std::vector<std::int32_t>> finish(PartitionedGraph& out) {
    std::vector<OpIndex> final_op(compute_.size(), kNoOp);
    for (std::size_t op = 0; op < compute_.size(); ++op) {
      if (is_cut_[op]) continue;
      final_op[op] = static_cast<OpIndex>(out.compute_.size());
      out.compute_.push_back(compute_[op]);
      out.memory_.push_back(memory_[op]);
      origin_[at(final_op[op])] = origin_[op];  // final_op[op] <= op, so nothing unread is lost
    }
    origin_.resize(out.compute_.size());
    std::vector<std::int32_t> final_dependency(src_.size(), -1);
    for (std::size_t op = 0; op < compute_.size(); ++op) {
      if (is_cut_[op]) continue;
      out.out_begin_.push_back(static_cast<std::int32_t>(out.src_.size()));
      for (const std::int32_t d : successors_[op]) {
        if (is_dead_[at(d)]) continue;
        final_dependency[at(d)] = static_cast<std::int32_t>(out.src_.size());
        out.src_.push_back(final_op[at(src_[at(d)])]);
        out.dst_.push_back(final_op[at(dst_[at(d)])]);
        out.bytes_.push_back(bytes_[at(d)]);
      }
    }
    out.out_begin_.push_back(static_cast<std::int32_t>(out.src_.size()));
    std::vector<std::vector<std::int32_t>> in_order(out.compute_.size());
    for (std::size_t op = 0; op < compute_.size(); ++op) {
      if (is_cut_[op]) continue;
      for (const std::int32_t d : predecessors_[op]) {
        if (!is_dead_[at(d)]) in_order[at(final_op[op])].push_back(final_dependency[at(d)]);
      }
    }
    for (auto* bases : {&out.forward_base_, &out.backward_base_}) {
      for (OpIndex& base : *bases) base = final_op[at(base)];
    }
    return in_order;
  }

  // The op of the job graph that a final op is, or is a piece of. After finish().
  [[nodiscard]] std::span<const OpIndex> origin() const { return origin_; }

 private:
  void connect(OpIndex from, OpIndex to, double bytes) {
    const auto d = static_cast<std::int32_t>(src_.size());
    src_.push_back(from);
    dst_.push_back(to);
    bytes_.push_back(bytes);
    is_dead_.push_back(0);
    successors_[at(from)].push_back(d);
    predecessors_[at(to)].push_back(d);
  }

  // Kills the living dependencies of a list and returns their other ends, in order.
  std::vector<OpIndex> cut_off(const std::vector<std::int32_t>& dependencies,
                               const std::vector<OpIndex>& other_end) {
    std::vector<OpIndex> ends;
    ends.reserve(dependencies.size());
    for (const std::int32_t d : dependencies) {
      if (is_dead_[at(d)] != 0) continue;
      is_dead_[at(d)] = 1;
      ends.push_back(other_end[at(d)]);
    }
    return ends;
  }

  std::vector<double> compute_, memory_;
  std::vector<OpIndex> origin_;
  std::vector<bool> is_cut_;
  std::vector<std::vector<std::int32_t>> successors_, predecessors_;  // dependency numbers
  std::vector<OpIndex> src_, dst_;
  std::vector<double> bytes_;
  std::vector<std::uint8_t> is_dead_;
};

PartitionedGraph::PartitionedGraph(JobGraphPtr graph, int degree, double quantum, double time_scale,
                                   DependencyBytes rule)
    : graph_(std::move(graph)) {
  PACML_CHECK(degree >= 1 && quantum > 0, "a partition needs a degree and a quantum");
  const int n = graph_->num_forward();
  Builder builder(*graph_, time_scale);
  for (OpIndex f = 0; f < n; ++f) {
    const int k = pieces_of(graph_->compute()[at(f)], quantum, degree);
    pieces_.push_back(k);
    degree_ = std::max(degree_, k);
    const OpIndex b = graph_->counterpart(f);
    forward_base_.push_back(k > 1 ? builder.cut(f, k, false) : f);
    backward_base_.push_back(k > 1 ? builder.cut(b, k, true) : b);
  }
  const auto in_order = builder.finish(*this);

  reverse_.assign(src_.size(), -1);
  std::vector<std::int32_t> sync;  // [k, k]: from sibling l to sibling m
  for (OpIndex f = 0; f < n; ++f) {
    const int k = pieces(f);
    const OpIndex base = backward_piece(f);
    if (k == 1) continue;
    sync.assign(at(k) * at(k), -1);
    for (std::int32_t d = out_begin_[at(base)]; d < out_begin_[at(base + k)]; ++d) {
      const OpIndex l = src_[at(d)] - base;
      const OpIndex m = dst_[at(d)] - base;
      if (m >= 0 && m < k) sync[at(l * k + m)] = d;
    }
    for (OpIndex l = 0; l < k; ++l) {
      for (OpIndex m = 0; m < k; ++m) {
        if (l != m) reverse_[at(sync[at(l * k + m)])] = sync[at(m * k + l)];
      }
    }
  }
  is_sync_.resize(src_.size());
  for (std::size_t d = 0; d < src_.size(); ++d) is_sync_[d] = reverse_[d] >= 0 ? 1 : 0;

  if (rule == DependencyBytes::kActivation) {
    std::vector<double> activation(at(graph_->num_ops()), 0.0);
    for (const auto& d : graph_->dependencies()) activation[at(d.src)] = d.bytes;
    const auto origin = builder.origin();
    const auto pieces_at = [&](OpIndex op) { return static_cast<double>(pieces_[at(op % n)]); };
    for (std::size_t d = 0; d < src_.size(); ++d) {
      if (is_sync_[d] != 0) continue;
      const OpIndex u = origin[at(src_[d])];
      bytes_[d] = activation[at(u)] / (pieces_at(u) * pieces_at(origin[at(dst_[d])]));
    }
  }

  for (OpIndex op = 0; op < num_ops(); ++op) {
    int parents = 0;
    for (const std::int32_t d : in_order[at(op)]) parents += is_sync_[at(d)] != 0 ? 0 : 1;
    num_parents_.push_back(parents);
    if (in_order[at(op)].empty()) sources_.push_back(op);
  }
  for (const double c : compute_) total_compute_ += c;
  for (const double m : memory_) total_memory_ += m;
  for (const double b : bytes_) total_dependency_bytes_ += b;
  group_dependencies(in_order);
}

void PartitionedGraph::group_dependencies(const std::vector<std::vector<std::int32_t>>& in_order) {
  struct Range {
    GroupKind kind;
    std::size_t begin;
  };
  std::vector<Range> ranges;
  const auto open = [&](GroupKind kind) { ranges.push_back({kind, group_items_.size()}); };
  group_items_.reserve(src_.size() + 2 * at(degree_) * at(degree_));
  for (OpIndex f = 0; f < graph_->num_forward(); ++f) {
    const int k = pieces(f);
    const OpIndex forward = forward_piece(f);
    const OpIndex backward = backward_piece(f);
    open(k > 1 ? GroupKind::kCollective : GroupKind::kOneToOne);
    for (std::int32_t d = out_begin_[at(forward)]; d < out_begin_[at(forward + k)]; ++d) {
      group_items_.push_back(d);
    }
    open(k > 1 ? GroupKind::kCollective : GroupKind::kOneToOne);
    for (OpIndex piece = backward; piece < backward + k; ++piece) {
      for (const std::int32_t d : in_order[at(piece)]) {
        if (is_sync_[at(d)] == 0) group_items_.push_back(d);
      }
    }
    if (k == 1) continue;
    open(GroupKind::kSyncPairs);
    for (OpIndex piece = backward; piece < backward + k; ++piece) {
      for (const std::int32_t d : in_order[at(piece)]) {
        // The pair was met already when its other half led into an earlier piece.
        if (is_sync_[at(d)] == 0 || src_[at(d)] < piece) continue;
        group_items_.push_back(d);
        group_items_.push_back(reverse_[at(d)]);
      }
    }
  }
  for (std::size_t g = 0; g < ranges.size(); ++g) {
    const std::size_t end = g + 1 < ranges.size() ? ranges[g + 1].begin : group_items_.size();
    groups_.push_back({ranges[g].kind, std::span<const std::int32_t>(group_items_)
                                           .subspan(ranges[g].begin, end - ranges[g].begin)});
  }
}

}  // namespace pacml::env
