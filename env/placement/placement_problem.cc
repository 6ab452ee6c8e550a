#include "env/placement/placement_problem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/result.h"
#include "env/placement/peak_memory.h"

namespace pacml::env {
namespace {

constexpr double kGb = 1e9;

std::string size_text(double bytes) {
  constexpr double kMb = 1e6;
  char text[32];
  if (bytes >= 10 * kMb) {
    std::snprintf(text, sizeof text, "%.2f GB", bytes / kGb);
  } else {
    std::snprintf(text, sizeof text, "%.3g MB", bytes / kMb);
  }
  return text;
}

}  // namespace

double penalised_runtime_s(double runtime_us, std::span<const double> peak_bytes,
                           const DeviceSet& devices, const MemoryPenalty& penalty) {
  const double runtime = runtime_us / 1e6;
  if (!(penalty.s_per_gb > 0)) return runtime;
  double over = 0;
  for (std::size_t d = 0; d < peak_bytes.size(); ++d) {
    const double limit = penalty.limit_gb ? *penalty.limit_gb : devices.memory_bytes(d) / kGb;
    over = std::max(over, peak_bytes[d] / kGb - limit);
  }
  return std::min(runtime + penalty.s_per_gb * over, penalty.cap_s);
}

PlacementProblem::PlacementProblem(OpGraphPtr ops, DeviceSetPtr on, MemoryPenalty for_memory)
    : graph(std::move(ops)),
      devices(std::move(on)),
      penalty(for_memory),
      groups(std::make_shared<const GroupGraph>(*graph, devices->semantics())) {
  if (graph->num_outputs() > kMostCopies / devices->size()) {
    throw UserError("the graph's " + std::to_string(graph->num_outputs()) + " outputs on " +
                    std::to_string(devices->size()) + " devices are more than " +
                    std::to_string(kMostCopies) + " copies");
  }
}

double PlacementProblem::limit_bytes(std::size_t device) const {
  return penalty.limit_gb ? *penalty.limit_gb * kGb : devices->memory_bytes(device);
}

bool PlacementProblem::is_limited() const {
  for (std::size_t d = 0; d < num_devices(); ++d) {
    if (std::isfinite(limit_bytes(d))) return true;
  }
  return false;
}

double PlacementProblem::over_limit_bytes(std::span<const double> peak_bytes) const {
  double over = 0;
  for (std::size_t d = 0; d < peak_bytes.size(); ++d) {
    over = std::max(over, peak_bytes[d] - limit_bytes(d));
  }
  return over;
}

std::optional<std::string> PlacementProblem::never_fits() const {
  double largest = 0;
  double all = 0;
  for (std::size_t d = 0; d < num_devices(); ++d) {
    largest = std::max(largest, limit_bytes(d));
    all += limit_bytes(d);
  }
  double weights = 0;
  for (std::size_t v = 0; v < graph->num_ops(); ++v) {
    const double own = resident_bytes(*graph, *devices, v);
    weights += own;
    if (own + graph->bytes_out()[v] > largest) {
      return "the operation \"" + graph->name(v) + "\" needs " +
             size_text(own + graph->bytes_out()[v]) + ", and no device has more than " +
             size_text(largest);
    }
  }
  if (weights > all) {
    return "the weights need " + size_text(weights) + ", and all devices together have " +
           size_text(all);
  }
  return std::nullopt;
}

PlacementEvaluator::PlacementEvaluator(PlacementProblemPtr problem)
    : problem_(std::move(problem)),
      simulator_(problem_->graph, problem_->devices),
      device_of_op_(problem_->graph->num_ops()),
      held_(problem_->num_devices()) {}

bool PlacementEvaluator::surely_fits() {
  const OpGraph& graph = *problem_->graph;
  std::ranges::fill(held_, 0.0);
  for (std::size_t v = 0; v < device_of_op_.size(); ++v) {
    held_[static_cast<std::size_t>(device_of_op_[v])] +=
        graph.bytes_out()[v] + resident_bytes(graph, *problem_->devices, v);
  }
  if (problem_->devices->semantics() == PlacementSemantics::kCorrected) {
    for (const std::int32_t t : simulator_.transfer_order()) {
      const PlacedTransfer& transfer = simulator_.transfer(t);
      held_[static_cast<std::size_t>(transfer.to)] +=
          graph.output_bytes()[static_cast<std::size_t>(transfer.output)];
    }
  }
  for (std::size_t d = 0; d < held_.size(); ++d) {
    if (held_[d] > problem_->limit_bytes(d)) return false;
  }
  return true;
}

void PlacementEvaluator::place(std::span<const std::int32_t> device_of_group) {
  PACML_CHECK(device_of_group.size() == problem_->num_groups(), "a placement of another graph");
  const auto group_of = problem_->graph->group_of();
  for (std::size_t v = 0; v < device_of_op_.size(); ++v) {
    device_of_op_[v] = device_of_group[static_cast<std::size_t>(group_of[v])];
  }
}

double PlacementEvaluator::runtime_s(std::span<const std::int32_t> device_of_group) {
  place(device_of_group);
  static_cast<void>(simulator_.run(device_of_op_));
  return penalised_s();
}

std::span<const double> PlacementEvaluator::runtimes_if_moved(
    std::span<const std::int32_t> device_of_group, std::size_t group, double now_s) {
  PACML_CHECK(group < device_of_group.size(), "a group of the graph");
  moved_.assign(device_of_group.begin(), device_of_group.end());
  runtimes_.assign(problem_->num_devices(), now_s);
  bool is_first = true;
  for (std::size_t d = 0; d < runtimes_.size(); ++d) {
    if (static_cast<std::int32_t>(d) == device_of_group[group]) continue;
    moved_[group] = static_cast<std::int32_t>(d);
    place(moved_);
    // With two devices there is nothing to go on with.
    if (runtimes_.size() == 2) {
      static_cast<void>(simulator_.run(device_of_op_));
    } else if (std::exchange(is_first, false)) {
      static_cast<void>(simulator_.run_for(device_of_op_, group));
    } else {
      static_cast<void>(simulator_.rerun(device_of_op_));
    }
    runtimes_[d] = penalised_s();
  }
  return runtimes_;
}

double PlacementEvaluator::penalised_s() {
  const double runtime_us = simulator_.runtime_us();
  ++num_simulations_;
  const MemoryPenalty& penalty = problem_->penalty;
  if (!(penalty.s_per_gb > 0)) return runtime_us / 1e6;
  // Peaks take about as long as the simulation.
  if (surely_fits()) return std::min(runtime_us / 1e6, penalty.cap_s);
  return penalised_runtime_s(runtime_us, simulator_.peak_bytes(), *problem_->devices, penalty);
}

}  // namespace pacml::env
