#include "env/tasks/device_placement/observation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/index.h"
#include "env/as_float.h"

namespace pacml::env {
namespace {

double mean_cost_us(const PlacementProblem& problem) {
  const double total = problem.graph->total_cost_us();
  return std::max(total / static_cast<double>(problem.num_groups()), 1e-3);
}

// What a byte takes from one device to another that is not the same.
double us_per_byte(const PlacementProblem& problem) {
  const auto n = static_cast<double>(problem.num_devices());
  return n > 1 ? problem.devices->mean_us_per_byte() * n / (n - 1) : 0;
}

// The longest way in cost from each node along `next`, its own included.
std::vector<double> longest_ways(const PlacementProblem& problem, const IndexLists& next,
                                 bool backwards) {
  auto order = fifo_topological_order(problem.groups->children());
  if (backwards) std::ranges::reverse(order);
  std::vector<double> way(order.size(), 0.0);
  for (const std::int32_t v : order) {
    double before = 0;
    for (const std::int32_t u : next[at(v)]) before = std::max(before, way[at(u)]);
    way[at(v)] = before + problem.groups->attributes()[at(v)].cost_us;
  }
  return way;
}

}  // namespace

std::vector<FeatureSpec> placement_globals() {
  return {{"runtime", "of one device"}, {"best_runtime", "of one device"},
          {"progress", "1", 0, 1},      {"devices", "count"},
          {"groups", "log2"},           {"ideal_runtime", "of the runtime"}};
}

std::vector<FeatureSpec> group_dynamic_features() {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  return {{"start", "of the runtime"},
          {"end", "of the runtime"},
          {"start_after_focus", "of the runtime", -kInfinite},
          {"is_with_focus", "1", 0, 1},
          {"visited", "1", 0, 1},
          {"is_focus", "1", 0, 1}};
}

std::vector<FeatureSpec> device_features(bool what_if, bool what_if_rest) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<FeatureSpec> features = {{"is_current", "1", 0, 1},
                                       {"load", "of an even share"},
                                       {"speed", "of the fastest", 0, 1},
                                       {"memory_left", "of its memory", -kInfinite, 1},
                                       {"start", "of the runtime"},
                                       {"finish", "of the runtime"},
                                       {"start_change", "of the runtime", -kInfinite},
                                       {"contention", "of the group's time"},
                                       {"bytes_to_fetch", "time, of the runtime"},
                                       {"bytes_to_send", "time, of the runtime"},
                                       {"parents_there", "1", 0, 1},
                                       {"children_there", "1", 0, 1},
                                       {"placed_wait", "of a mean group's time"},
                                       {"placed_finish", "of a mean group's time, after the best"},
                                       {"placed_length", "of a mean group's time"},
                                       {"placed_reach", "of an even share"}};
  if (what_if) {
    features.push_back({"gain", "of the runtime", -kInfinite, 1});
    features.push_back({"gain_on_best_device", "of the runtime", -kInfinite, 0});
  }
  if (what_if_rest) {
    features.push_back({"gain_with_rest", "of the runtime", -kInfinite, 1});
    features.push_back({"gain_with_rest_on_best_device", "of the runtime", -kInfinite, 0});
  }
  return features;
}

GraphFeaturesPtr group_features(const PlacementProblem& problem) {
  const GroupGraph& groups = *problem.groups;
  auto features = std::make_shared<GraphFeatures>();
  features->num_nodes = static_cast<int>(groups.size());
  features->node_width = static_cast<int>(kGroupWidth);
  features->edge_width = static_cast<int>(kGroupEdgeWidth);
  const double cost = mean_cost_us(problem);
  const double byte_us = us_per_byte(problem);
  const auto down = longest_ways(problem, groups.parents(), false);
  const auto up = longest_ways(problem, groups.children(), true);
  const double longest = std::max(*std::ranges::max_element(down), 1e-3);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupAttributes& group = groups.attributes()[g];
    for (const double v :
         {group.cost_us / cost, group.out_bytes * byte_us / cost, down[g] / longest,
          up[g] / longest, static_cast<double>(groups.parents()[g].size()),
          static_cast<double>(groups.children()[g].size())}) {
      features->node_features.push_back(as_float(v));
    }
    for (const std::int32_t child : groups.children()[g]) {
      features->edge_src.push_back(static_cast<std::int32_t>(g));
      features->edge_dst.push_back(child);
      features->edge_features.push_back(as_float(group.out_bytes * byte_us / cost));
    }
  }
  features->num_edges = static_cast<int>(features->edge_src.size());
  features->hash = hash_features(*features);
  return features;
}

GraphFeaturesPtr published_group_features(const PlacementProblem& problem) {
  const GroupGraph& groups = *problem.groups;
  auto features = std::make_shared<GraphFeatures>();
  features->num_nodes = static_cast<int>(groups.size());
  features->node_width = static_cast<int>(kPublishedGroupWidth);
  const std::vector<double> starts(groups.size(), 0.0);
  const std::vector<std::int32_t> devices(groups.size(), 0);
  const std::vector<int> visits(groups.size(), 0);
  const auto rows = placeto_features({.attributes = groups.attributes(),
                                      .start_us = starts,
                                      .device = devices,
                                      .visits = visits,
                                      .num_devices = problem.num_devices()});
  const std::size_t width = placeto_width(problem.num_devices(), false);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto row = std::span(rows).subspan(g * width, kPublishedGroupWidth);
    features->node_features.insert(features->node_features.end(), row.begin(), row.end());
    for (const std::int32_t child : groups.children()[g]) {
      features->edge_src.push_back(static_cast<std::int32_t>(g));
      features->edge_dst.push_back(child);
    }
  }
  features->num_edges = static_cast<int>(features->edge_src.size());
  features->hash = hash_features(*features);
  return features;
}

namespace {

// What would be of the focus on each device, as far as the last simulation tells.
class DeviceView {
 public:
  DeviceView(const PlacementProblem& problem, const PlacementState& state)
      : problem_(problem), state_(state), load_us_(problem.num_devices(), 0.0) {
    for (std::size_t g = 0; g < problem.num_groups(); ++g) {
      if (g == state.focus) continue;
      load_us_[at(state.device[g])] += problem.groups->attributes()[g].cost_us;
    }
    for (std::size_t d = 0; d < load_us_.size(); ++d) {
      load_us_[d] /= problem.devices->speed(d);
      top_speed_ = std::max(top_speed_, problem.devices->speed(d));
    }
    mean_cost_us_ = mean_cost_us(problem);
    best_finish_us_ = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < problem.num_devices(); ++d) {
      best_finish_us_ = std::min(best_finish_us_, state.placed->slot(state.focus, d).finish_us);
    }
    for (const auto runtimes : {state.what_if_s, state.what_if_rest_s}) {
      if (!runtimes.empty()) what_ifs_.push_back({runtimes, std::ranges::min(runtimes)});
    }
  }

  void append(std::size_t d, std::vector<float>& out) const {
    const double runtime_us = std::max(state_.runtime_s * 1e6, 1e-3);
    const auto& own = problem_.groups->attributes()[state_.focus];
    const double length = own.cost_us / problem_.devices->speed(d);
    const Way in = from_parents(d);
    const double limit = problem_.limit_bytes(d);
    const double even =
        problem_.graph->total_cost_us() / static_cast<double>(problem_.num_devices()) / top_speed_;
    const PlacingSchedule::Slot slot = state_.placed->slot(state_.focus, d);
    const double length_us = state_.placed->length_us();
    const bool is_limited = std::isfinite(limit) && !state_.peak_bytes.empty();
    for (const double v :
         {at(state_.device[state_.focus]) == d ? 1.0 : 0.0, load_us_[d] / std::max(even, 1e-3),
          problem_.devices->speed(d) / top_speed_,
          is_limited ? std::max((limit - state_.peak_bytes[d]) / limit, -1e3) : 1.0,
          in.ready_us / runtime_us, (in.ready_us + length) / runtime_us,
          (in.ready_us - state_.start_us[state_.focus]) / runtime_us,
          overlap_us(d, in.ready_us, in.ready_us + length) / std::max(length, 1.0),
          in.transfer_us / runtime_us, to_children_us(d) / runtime_us, in.share_there,
          children_there(d), (slot.start_us - slot.ready_us) / mean_cost_us_,
          (slot.finish_us - best_finish_us_) / mean_cost_us_,
          std::max(slot.finish_us - length_us, 0.0) / mean_cost_us_,
          slot.finish_us / std::max(even, 1e-3)}) {
      out.push_back(as_float(v));
    }
    const double now = std::max(state_.runtime_s, 1e-9);
    for (const WhatIf& what_if : what_ifs_) {
      out.push_back(as_float((state_.runtime_s - what_if.runtime_s[d]) / now));
      out.push_back(as_float((what_if.best_s - what_if.runtime_s[d]) / now));
    }
  }

 private:
  struct WhatIf {
    std::span<const double> runtime_s;  // [devices]
    double best_s = 0;
  };
  struct Way {
    double ready_us = 0;     // when all that the focus needs is there, without waiting for links
    double transfer_us = 0;  // of what has to come
    double share_there = 0;  // of parents
  };

  [[nodiscard]] double transfer_us(double bytes, std::size_t from, std::size_t to) const {
    if (from == to) return 0;
    return bytes / problem_.devices->bytes_per_us(from, to) +
           problem_.devices->latency_us(from, to);
  }

  [[nodiscard]] Way from_parents(std::size_t d) const {
    Way way;
    const auto parents = problem_.groups->parents()[state_.focus];
    for (const std::int32_t p : parents) {
      const auto from = at(state_.device[at(p)]);
      const double transfer = transfer_us(problem_.groups->attributes()[at(p)].out_bytes, from, d);
      way.ready_us = std::max(way.ready_us, state_.end_us[at(p)] + transfer);
      way.transfer_us += transfer;
      if (from == d) way.share_there += 1.0 / static_cast<double>(parents.size());
    }
    return way;
  }

  [[nodiscard]] double to_children_us(std::size_t d) const {
    double sum = 0;
    for (const std::int32_t c : problem_.groups->children()[state_.focus]) {
      sum += transfer_us(problem_.groups->attributes()[state_.focus].out_bytes, d,
                         at(state_.device[at(c)]));
    }
    return sum;
  }

  [[nodiscard]] double children_there(std::size_t d) const {
    const auto children = problem_.groups->children()[state_.focus];
    double there = 0;
    for (const std::int32_t c : children) there += at(state_.device[at(c)]) == d ? 1 : 0;
    return children.empty() ? 0 : there / static_cast<double>(children.size());
  }

  // For how long the device was busy with others meanwhile.
  [[nodiscard]] double overlap_us(std::size_t d, double from, double until) const {
    double sum = 0;
    for (std::size_t g = 0; g < problem_.num_groups(); ++g) {
      if (g == state_.focus || at(state_.device[g]) != d) continue;
      const double busy = std::min(until, state_.end_us[g]) - std::max(from, state_.start_us[g]);
      sum += std::max(busy, 0.0);
    }
    return sum;
  }

  const PlacementProblem& problem_;
  const PlacementState& state_;
  std::vector<double> load_us_;   // [devices], without the focus
  std::vector<WhatIf> what_ifs_;  // that are shown
  double top_speed_ = 0;
  double mean_cost_us_ = 0;
  double best_finish_us_ = 0;
};

}  // namespace

void ShownPlacement::look_at(const PlacementProblem& problem, const PlacementState& state) {
  const double runtime_us = std::max(state.runtime_s * 1e6, 1e-3);
  focus = static_cast<std::uint32_t>(state.focus);
  nodes.clear();
  for (std::size_t g = 0; g < problem.num_groups(); ++g) {
    for (const double v : {state.start_us[g] / runtime_us, state.end_us[g] / runtime_us,
                           (state.start_us[g] - state.start_us[state.focus]) / runtime_us,
                           state.device[g] == state.device[state.focus] ? 1.0 : 0.0,
                           static_cast<double>(state.visited[g]), g == state.focus ? 1.0 : 0.0}) {
      nodes.push_back(as_float(v));
    }
  }
  double speed = 0;
  for (std::size_t d = 0; d < problem.num_devices(); ++d) speed += problem.devices->speed(d);
  const double single = std::max(state.single_s, 1e-9);
  globals.clear();
  for (const double v : {state.runtime_s / single, state.best_s / single, state.progress,
                         static_cast<double>(problem.num_devices()),
                         std::log2(static_cast<double>(problem.num_groups())),
                         problem.graph->total_cost_us() / speed / runtime_us}) {
    globals.push_back(as_float(v));
  }
  devices.clear();
  const DeviceView view(problem, state);
  for (std::size_t d = 0; d < problem.num_devices(); ++d) view.append(d, devices);
}

void ShownPlacement::look_at_published(const PlacementProblem& problem,
                                       const PlacementState& state) {
  focus = static_cast<std::uint32_t>(state.focus);
  std::vector<int> visits;
  for (const std::uint8_t visited : state.visited) visits.push_back(state.rounds_done + visited);
  const auto rows = placeto_features({.attributes = problem.groups->attributes(),
                                      .start_us = state.leader_start_us,
                                      .device = state.device,
                                      .visits = visits,
                                      .current = state.focus,
                                      .num_devices = problem.num_devices(),
                                      .signed_scale = false});
  const std::size_t width = placeto_width(problem.num_devices(), false);
  nodes.clear();
  for (std::size_t first = 0; first < rows.size(); first += width) {
    const auto row =
        std::span(rows).subspan(first + kPublishedGroupWidth, width - kPublishedGroupWidth);
    nodes.insert(nodes.end(), row.begin(), row.end());
  }
}

}  // namespace pacml::env
