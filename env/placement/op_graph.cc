#include "env/placement/op_graph.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/index.h"
#include "common/result.h"

namespace pacml::env {
namespace {

// Microseconds or bytes; whatever is added and divided later stays finite.
constexpr double kMostOfAnything = 1e18;

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

void check_op(const OpSpec& op) {
  const auto is_amount = [](double v) { return v >= 0 && v <= kMostOfAnything; };
  if (!is_amount(op.cost_us)) {
    throw UserError("the operation " + quoted(op.name) +
                    " has a cost that is no number from 0 to 1e18");
  }
  if (!std::ranges::all_of(op.output_bytes, is_amount) || !is_amount(op.parameter_bytes) ||
      !is_amount(op.kept_bytes) || !is_amount(op.memory_bytes.value_or(0))) {
    throw UserError("the operation " + quoted(op.name) +
                    " has a size that is no number from 0 to 1e18");
  }
}

void check(const OpGraphSpec& spec, const OpGraphLimits& limits) {
  if (spec.ops.empty()) throw UserError("the graph has no operations");
  if (spec.ops.size() > limits.max_ops) {
    throw UserError("the graph has " + std::to_string(spec.ops.size()) + " operations, more than " +
                    std::to_string(limits.max_ops));
  }
  if (spec.edges.size() > limits.max_edges) {
    throw UserError("the graph has " + std::to_string(spec.edges.size()) + " edges, more than " +
                    std::to_string(limits.max_edges));
  }
  for (const OpSpec& op : spec.ops) check_op(op);
  const auto num_ops = static_cast<std::int64_t>(spec.ops.size());
  for (const OpEdge& edge : spec.edges) {
    for (const std::int64_t end : {edge.producer, edge.consumer}) {
      if (end < 0 || end >= num_ops) {
        throw UserError("an edge names operation " + std::to_string(end) + " of " +
                        std::to_string(num_ops));
      }
    }
    if (edge.output < 0) throw UserError("an edge names output " + std::to_string(edge.output));
    if (edge.producer == edge.consumer) {
      throw UserError("the operation " + quoted(spec.ops[at(edge.producer)].name) +
                      " consumes its own output");
    }
  }
}

std::vector<std::int32_t> ranks_of(const std::vector<OpSpec>& ops) {
  std::vector<std::int32_t> by_name(ops.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  std::ranges::sort(by_name, {},
                    [&](std::int32_t op) -> const std::string& { return ops[at(op)].name; });
  std::vector<std::int32_t> rank(ops.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) {
    const std::string& name = ops[at(by_name[i])].name;
    if (i > 0 && name == ops[at(by_name[i - 1])].name) {
      throw UserError("there are two operations " + quoted(name));
    }
    rank[at(by_name[i])] = static_cast<std::int32_t>(i);
  }
  return rank;
}

}  // namespace

IndexLists::IndexLists(const std::vector<std::vector<std::int32_t>>& lists) {
  begin_.reserve(lists.size() + 1);
  for (const auto& list : lists) {
    items_.insert(items_.end(), list.begin(), list.end());
    begin_.push_back(items_.size());
  }
}

namespace {

std::vector<std::int32_t> num_parents_of(const IndexLists& children) {
  std::vector<std::int32_t> count(children.size(), 0);
  for (std::size_t v = 0; v < children.size(); ++v) {
    for (const std::int32_t c : children[v]) ++count[at(c)];
  }
  return count;
}

}  // namespace

std::vector<std::int32_t> fifo_topological_order(const IndexLists& children) {
  auto waiting = num_parents_of(children);
  std::vector<std::int32_t> order;
  order.reserve(children.size());
  for (std::size_t v = 0; v < children.size(); ++v) {
    if (waiting[v] == 0) order.push_back(static_cast<std::int32_t>(v));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::int32_t c : children[at(order[i])]) {
      if (--waiting[at(c)] == 0) order.push_back(c);
    }
  }
  return order;
}

std::vector<std::int32_t> lifo_topological_order(const IndexLists& children) {
  auto waiting = num_parents_of(children);
  std::vector<std::int32_t> ready;
  for (std::size_t v = 0; v < children.size(); ++v) {
    if (waiting[v] == 0) ready.push_back(static_cast<std::int32_t>(v));
  }
  std::vector<std::int32_t> order;
  order.reserve(children.size());
  while (!ready.empty()) {
    const std::int32_t v = ready.back();
    ready.pop_back();
    order.push_back(v);
    for (const std::int32_t c : children[at(v)]) {
      if (--waiting[at(c)] == 0) ready.push_back(c);
    }
  }
  return order;
}

OpGraph::OpGraph(OpGraphSpec spec, const OpGraphLimits& limits) : spec_(std::move(spec)) {
  check(spec_, limits);
  name_rank_ = ranks_of(spec_.ops);
  for (const OpSpec& op : spec_.ops) {
    cost_us_.push_back(op.cost_us);
    parameter_bytes_.push_back(op.parameter_bytes);
    kept_bytes_.push_back(op.kept_bytes);
  }
  total_cost_us_ = std::accumulate(cost_us_.begin(), cost_us_.end(), 0.0);
  lay_out_outputs(limits);
  lay_out_edges();
  lay_out_groups();
}

void OpGraph::lay_out_outputs(const OpGraphLimits& limits) {
  std::vector<std::size_t> count;
  count.reserve(num_ops());
  for (const OpSpec& op : spec_.ops) count.push_back(op.output_bytes.size());
  for (const OpEdge& edge : spec_.edges) {
    count[at(edge.producer)] = std::max(count[at(edge.producer)], at(edge.output) + 1);
  }
  std::size_t total = 0;
  for (const std::size_t c : count) total += c;
  if (total > limits.max_outputs) {
    throw UserError("the graph has " + std::to_string(total) + " outputs, more than " +
                    std::to_string(limits.max_outputs));
  }
  first_output_.push_back(0);
  for (std::size_t v = 0; v < num_ops(); ++v) {
    const auto& bytes = spec_.ops[v].output_bytes;
    output_bytes_.insert(output_bytes_.end(), bytes.begin(), bytes.end());
    output_bytes_.resize(at(first_output_[v]) + count[v], 0.0);
    first_output_.push_back(static_cast<std::int32_t>(output_bytes_.size()));
    bytes_out_.push_back(std::accumulate(bytes.begin(), bytes.end(), 0.0));
  }
}

namespace {

using Lists = std::vector<std::vector<std::int32_t>>;

// Of operations' consumers and, parallel to them, what each gets.
OpFlows flows_of(const Lists& consumers, const Lists& outputs, std::size_t num_outputs) {
  Lists by_output(num_outputs);
  Lists parents(consumers.size());
  Lists parent_outputs(consumers.size());
  for (std::size_t v = 0; v < consumers.size(); ++v) {
    for (std::size_t i = 0; i < consumers[v].size(); ++i) {
      by_output[at(outputs[v][i])].push_back(consumers[v][i]);
      parents[at(consumers[v][i])].push_back(static_cast<std::int32_t>(v));
      parent_outputs[at(consumers[v][i])].push_back(outputs[v][i]);
    }
  }
  return {IndexLists(consumers), IndexLists(outputs), IndexLists(by_output), IndexLists(parents),
          IndexLists(parent_outputs)};
}

}  // namespace

void OpGraph::lay_out_edges() {
  std::vector<OpEdge> edges = spec_.edges;
  std::ranges::stable_sort(edges, {}, &OpEdge::consumer);
  const auto output_of = [this](const OpEdge& edge) {
    return first_output_[at(edge.producer)] + edge.output;
  };

  Lists last_to(num_ops());
  Lists last(num_ops());
  bool has_several = false;  // outputs of one operation for one consumer
  // Edges of one consumer come together, so that it is the producer's last consumer or none yet.
  for (const OpEdge& edge : edges) {
    auto& list = last_to[at(edge.producer)];
    auto& outputs = last[at(edge.producer)];
    if (!list.empty() && list.back() == edge.consumer) {
      has_several = has_several || outputs.back() != output_of(edge);
      outputs.back() = output_of(edge);
    } else {
      list.push_back(edge.consumer);
      outputs.push_back(output_of(edge));
    }
  }
  last_outputs_ = flows_of(last_to, last, num_outputs());
  if (has_several) {
    Lists every_to(num_ops());
    Lists every(num_ops());
    std::vector<std::int32_t> last_consumer(num_outputs(), -1);
    for (const OpEdge& edge : edges) {
      const std::int32_t output = output_of(edge);
      if (std::exchange(last_consumer[at(output)], edge.consumer) == edge.consumer) continue;
      every_to[at(edge.producer)].push_back(edge.consumer);
      every[at(edge.producer)].push_back(output);
    }
    every_output_ = flows_of(every_to, every, num_outputs());
  }
  for (std::size_t v = 0; v < num_ops(); ++v) {
    if (parents()[v].empty()) sources_.push_back(static_cast<std::int32_t>(v));
  }
  order_ = fifo_topological_order(consumers());
  if (order_.size() != num_ops()) {
    std::vector<char> is_placed(num_ops(), 0);
    for (const std::int32_t v : order_) is_placed[at(v)] = 1;
    const auto stuck = std::ranges::find(is_placed, 0) - is_placed.begin();
    throw UserError("the graph has a cycle: the operation " +
                    quoted(name(static_cast<std::size_t>(stuck))) +
                    " waits for itself or for one that does");
  }
}

void OpGraph::lay_out_groups() {
  std::vector<std::vector<std::int32_t>> groups;
  std::unordered_map<std::string_view, std::int32_t> index;
  for (std::size_t v = 0; v < num_ops(); ++v) {
    const OpSpec& op = spec_.ops[v];
    const std::string_view key = op.group.empty() ? op.name : op.group;
    const auto [it, is_new] = index.try_emplace(key, static_cast<std::int32_t>(groups.size()));
    if (is_new) groups.emplace_back();
    groups[at(it->second)].push_back(static_cast<std::int32_t>(v));
    group_of_.push_back(it->second);
  }
  groups_ = IndexLists(groups);
}

const std::string& OpGraph::group_name(std::size_t group) const {
  const OpSpec& leader = spec_.ops[at(groups_[group].front())];
  return leader.group.empty() ? leader.name : leader.group;
}

}  // namespace pacml::env
