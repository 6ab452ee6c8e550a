#include "env/placement/list_schedule.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/index.h"
#include "env/placement/idle_gaps.h"
#include "env/placement/peak_memory.h"

namespace pacml::env {
namespace {

// An estimated schedule in progress.
class Schedule {
 public:
  Schedule(const PlacementProblem& problem, ListRule rule)
      : problem_(problem),
        graph_(*problem.graph),
        devices_(*problem.devices),
        flows_(graph_.flows(devices_.semantics())),
        rule_(rule),
        upward_(graph_.num_ops(), 0.0),
        device_of_group_(graph_.num_groups(), -1),
        device_of_(graph_.num_ops(), -1),
        end_(graph_.num_ops(), 0.0),
        idle_(devices_.size()),
        channel_free_(devices_.num_channels(), 0.0),
        held_(devices_.size(), 0.0),
        waiting_(graph_.num_ops(), 0) {
    find_upward_ranks();
    group_bytes_.assign(graph_.num_groups(), 0.0);
    for (std::size_t v = 0; v < graph_.num_ops(); ++v) {
      group_bytes_[at(graph_.group_of()[v])] +=
          graph_.bytes_out()[v] + resident_bytes(graph_, devices_, v);
      waiting_[v] = static_cast<std::int32_t>(graph_.parents()[v].size());
    }
    for (const std::int32_t v : graph_.sources()) ready_.emplace(-upward_[at(v)], v);
  }

  std::optional<GroupPlacement> run(std::int64_t most_looks) {
    while (!ready_.empty()) {
      if (looks_ > most_looks) return std::nullopt;
      const auto [op, device] = rule_ == ListRule::kHeft ? next_by_rank() : next_by_start();
      commit(op, device);
    }
    return device_of_group_;
  }

 private:
  using Ready = std::pair<double, std::int32_t>;  // highest upward rank first, then by index

  void find_upward_ranks() {
    const auto order = graph_.topological_order();
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::size_t v = at(order[i]);
      const auto consumers = flows_.consumers[v];
      const auto outputs = flows_.outputs[v];
      double below = 0;
      for (std::size_t k = 0; k < consumers.size(); ++k) {
        below =
            std::max(below, graph_.output_bytes()[at(outputs[k])] * devices_.mean_us_per_byte() +
                                upward_[at(consumers[k])]);
      }
      upward_[v] = graph_.cost_us()[v] + below;
    }
  }

  // Where a group may still go: where it is, where it fits, or where there is most room.
  void find_allowed(std::size_t group, std::vector<std::size_t>& allowed) const {
    allowed.clear();
    if (device_of_group_[group] >= 0) {
      allowed.push_back(at(device_of_group_[group]));
      return;
    }
    const bool is_limited = problem_.penalty.s_per_gb > 0;
    std::size_t emptiest = 0;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!is_limited || held_[d] + group_bytes_[group] <= problem_.limit_bytes(d)) {
        allowed.push_back(d);
      }
      if (held_[d] < held_[emptiest]) emptiest = d;
    }
    if (allowed.empty()) allowed.push_back(emptiest);
  }

  [[nodiscard]] double duration(std::size_t op, std::size_t device) const {
    return graph_.cost_us()[op] / devices_.speed(device);
  }
  [[nodiscard]] double transfer_us(std::int32_t output, std::size_t from, std::size_t to) const {
    return graph_.output_bytes()[at(output)] / devices_.bytes_per_us(from, to);
  }

  // When everything that the operation needs is there.
  [[nodiscard]] double arrival(std::size_t op, std::size_t device) {
    const auto parents = flows_.parents[op];
    const auto outputs = flows_.parent_outputs[op];
    looks_ += 1 + static_cast<std::int64_t>(parents.size());
    double latest = 0;
    for (std::size_t k = 0; k < parents.size(); ++k) {
      const auto from = at(device_of_[at(parents[k])]);
      double there = end_[at(parents[k])];
      if (from != device) {
        if (rule_ == ListRule::kEtf) {
          there = std::max(there, channel_free_[devices_.channel(from, device)]);
        }
        there += transfer_us(outputs[k], from, device);
        there += devices_.latency_us(from, device);
      }
      latest = std::max(latest, there);
    }
    return latest;
  }

  // From then on, when the device has time.
  [[nodiscard]] double start(std::size_t device, double from, double length) const {
    const IdleGaps& idle = idle_[device];
    return rule_ == ListRule::kEtf ? std::max(from, idle.last_end()) : idle.first_fit(from, length);
  }

  std::pair<std::size_t, std::size_t> next_by_rank() {
    const auto op = at(ready_.begin()->second);
    find_allowed(at(graph_.group_of()[op]), allowed_);
    std::size_t best = allowed_.front();
    double best_end = std::numeric_limits<double>::infinity();
    for (const std::size_t d : allowed_) {
      const double length = duration(op, d);
      const double end = start(d, arrival(op, d), length) + length;
      if (end < best_end) {
        best_end = end;
        best = d;
      }
    }
    return {op, best};
  }

  std::pair<std::size_t, std::size_t> next_by_start() {
    std::tuple<double, double, std::int32_t, std::size_t> best{
        std::numeric_limits<double>::infinity(), 0.0, 0, 0};
    double first_free = std::numeric_limits<double>::infinity();
    for (const IdleGaps& idle : idle_) first_free = std::min(first_free, idle.last_end());
    for (const auto& [rank, op] : ready_) {
      if (std::get<0>(best) <= first_free) break;  // those behind start no sooner, and rank lower
      find_allowed(at(graph_.group_of()[at(op)]), allowed_);
      for (const std::size_t d : allowed_) {
        best = std::min(best, {start(d, arrival(at(op), d), duration(at(op), d)), rank, op, d});
      }
    }
    return {at(std::get<2>(best)), std::get<3>(best)};
  }

  void commit(std::size_t op, std::size_t device) {
    const double begin = start(device, arrival(op, device), duration(op, device));
    const auto parents = flows_.parents[op];
    const auto outputs = flows_.parent_outputs[op];
    const double gap =
        devices_.semantics() == PlacementSemantics::kPlaceto ? devices_.constants().delta2_us : 0;
    for (std::size_t k = 0; k < parents.size(); ++k) {
      const auto from = at(device_of_[at(parents[k])]);
      if (from == device) continue;
      double& free = channel_free_[devices_.channel(from, device)];
      free = std::max(end_[at(parents[k])], free) + transfer_us(outputs[k], from, device) + gap;
    }
    const auto group = at(graph_.group_of()[op]);
    if (device_of_group_[group] < 0) {
      device_of_group_[group] = static_cast<std::int32_t>(device);
      held_[device] += group_bytes_[group];
    }
    device_of_[op] = static_cast<std::int32_t>(device);
    end_[op] = begin + duration(op, device);
    idle_[device].take(begin, end_[op]);
    ready_.erase({-upward_[op], static_cast<std::int32_t>(op)});
    for (const std::int32_t c : graph_.consumers()[op]) {
      if (--waiting_[at(c)] == 0) ready_.emplace(-upward_[at(c)], c);
    }
  }

  const PlacementProblem& problem_;
  const OpGraph& graph_;
  const DeviceSet& devices_;
  const OpFlows& flows_;
  ListRule rule_;
  std::vector<double> upward_;
  GroupPlacement device_of_group_;
  std::vector<std::int32_t> device_of_;
  std::vector<double> end_;
  std::vector<IdleGaps> idle_;  // [devices]
  std::vector<double> channel_free_;
  std::vector<double> held_;  // bytes on each device
  std::vector<double> group_bytes_;
  std::vector<std::int32_t> waiting_;
  std::set<Ready> ready_;
  std::int64_t looks_ = 0;
  std::vector<std::size_t> allowed_;  // scratch
};

}  // namespace

std::optional<GroupPlacement> list_schedule_within(const PlacementProblem& problem, ListRule rule,
                                                   std::int64_t most_looks) {
  return Schedule(problem, rule).run(most_looks);
}

GroupPlacement list_schedule(const PlacementProblem& problem, ListRule rule) {
  return *list_schedule_within(problem, rule, std::numeric_limits<std::int64_t>::max());
}

GroupPlacement better_list_schedule(PlacementEvaluator& evaluator) {
  auto heft = list_schedule(evaluator.problem(), ListRule::kHeft);
  auto etf = list_schedule(evaluator.problem(), ListRule::kEtf);
  const double heft_s = evaluator.runtime_s(heft);
  return evaluator.runtime_s(etf) < heft_s ? etf : heft;
}

}  // namespace pacml::env
