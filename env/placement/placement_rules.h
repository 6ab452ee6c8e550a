#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "common/index.h"
#include "env/placement/device_set.h"
#include "env/placement/op_graph.h"
#include "env/placement/peak_memory.h"
#include "env/placement/placed_transfer.h"

// What the semantics of placements differ in (docs/placement.md): a class each, with the answers to
// all that PlacementSimulator asks as it executes a graph. They borrow graph and devices, whose
// semantics are theirs. Immutable.

namespace pacml::env {

// Something's place among its kind, which decides ties, and back.
class Ranking {
 public:
  // Pre: a permutation.
  explicit Ranking(std::vector<std::int32_t> rank);
  [[nodiscard]] std::size_t rank(std::size_t i) const { return at(rank_[i]); }
  [[nodiscard]] std::size_t of_rank(std::size_t rank) const { return at(of_rank_[rank]); }

 private:
  std::vector<std::int32_t> rank_;
  std::vector<std::int32_t> of_rank_;
};
// In the order of their numbers.
class SameRanking {
 public:
  [[nodiscard]] static std::size_t rank(std::size_t i) { return i; }
  [[nodiscard]] static std::size_t of_rank(std::size_t rank) { return rank; }
};

// As published: equal devices, each of which sends an output to all who want it over its one bus.
class PlacetoRules {
 public:
  PlacetoRules(const OpGraph& graph, const DeviceSet& devices);

  // Ties: operations by name, devices by their numbers as text, buses as their devices.
  [[nodiscard]] const Ranking& ops() const { return ops_; }
  [[nodiscard]] const Ranking& devices() const { return devices_; }
  [[nodiscard]] const Ranking& channels() const { return devices_; }
  // Before the consumers' own ranks, where their inputs come at one time.
  [[nodiscard]] std::size_t producer_rank(std::size_t op) const { return ops_.rank(op); }

  [[nodiscard]] double first_ready_us() const { return constants_->init_offset_us; }
  [[nodiscard]] double duration_us(std::size_t op, std::size_t /*device*/) const {
    return graph_->cost_us()[op];
  }
  // Outputs are queued when the operation starts, stamped with its end: a device executes one
  // operation after another, so that stamps never decrease.
  static constexpr bool kAsksAhead = true;

  // Of outputs that may be asked for; which one a device is served by, and whom that is for.
  [[nodiscard]] std::size_t num_copies() const { return graph_->num_outputs(); }
  [[nodiscard]] static std::size_t copy(std::size_t output, std::size_t /*to*/) { return output; }
  [[nodiscard]] static std::int32_t receiver(std::size_t /*to*/) { return -1; }
  [[nodiscard]] static bool reaches(const PlacedTransfer& transfer, std::int32_t device) {
    return device != transfer.from;
  }
  // Sets when it arrives, and when the next one may start. Pre: it has a start.
  void carry(PlacedTransfer& transfer) const {
    transfer.arrive_us = transfer.start_us + transfer_us_[at(transfer.output)];
    transfer.free_us = transfer.arrive_us + constants_->delta2_us;
  }

  [[nodiscard]] static double runtime_us(double last_event_us, std::span<const double> /*end_us*/) {
    return last_event_us;
  }
  static void find_peaks(const PlacementSimulator& run, std::span<double> peak_bytes) {
    placeto_peak_bytes(run, peak_bytes);
  }

 private:
  const OpGraph* graph_;
  const PlacetoConstants* constants_;
  Ranking ops_;
  Ranking devices_;
  std::vector<double> transfer_us_;  // [outputs]
};

// Devices that differ, each of which is sent its own copy over the link from one to the other.
class CorrectedRules {
 public:
  CorrectedRules(const OpGraph& graph, const DeviceSet& devices)
      : graph_(&graph), devices_(&devices) {}

  [[nodiscard]] static SameRanking ops() { return {}; }
  [[nodiscard]] static SameRanking devices() { return {}; }
  [[nodiscard]] static SameRanking channels() { return {}; }
  [[nodiscard]] static std::size_t producer_rank(std::size_t /*op*/) { return 0; }

  [[nodiscard]] static double first_ready_us() { return 0; }
  [[nodiscard]] double duration_us(std::size_t op, std::size_t device) const {
    return graph_->cost_us()[op] / devices_->speed(device);
  }
  static constexpr bool kAsksAhead = false;

  [[nodiscard]] std::size_t num_copies() const { return graph_->num_outputs() * devices_->size(); }
  [[nodiscard]] std::size_t copy(std::size_t output, std::size_t to) const {
    return output * devices_->size() + to;
  }
  [[nodiscard]] static std::int32_t receiver(std::size_t to) {
    return static_cast<std::int32_t>(to);
  }
  [[nodiscard]] static bool reaches(const PlacedTransfer& transfer, std::int32_t device) {
    return device == transfer.to;
  }
  void carry(PlacedTransfer& transfer) const {
    const auto from = at(transfer.from);
    const auto to = at(transfer.to);
    transfer.free_us = transfer.start_us + graph_->output_bytes()[at(transfer.output)] /
                                               devices_->bytes_per_us(from, to);
    transfer.arrive_us = transfer.free_us + devices_->latency_us(from, to);
  }

  [[nodiscard]] static double runtime_us(double /*last_event_us*/, std::span<const double> end_us) {
    return std::ranges::max(end_us);
  }
  static void find_peaks(const PlacementSimulator& run, std::span<double> peak_bytes) {
    corrected_peak_bytes(run, peak_bytes);
  }

 private:
  const OpGraph* graph_;
  const DeviceSet* devices_;
};

using PlacementRules = std::variant<PlacetoRules, CorrectedRules>;
// Those of the devices' semantics.
[[nodiscard]] PlacementRules placement_rules(const OpGraph& graph, const DeviceSet& devices);

}  // namespace pacml::env
