#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/placement/device_set.h"
#include "env/placement/event_heap.h"
#include "env/placement/op_graph.h"
#include "env/placement/placed_transfer.h"
#include "env/placement/placement_rules.h"

namespace pacml::env {

// What one execution of a graph takes with every operation on a device. Each device executes the
// operations that are ready one at a time, in the order in which they became so; each channel
// between devices carries one transfer at a time, in the order in which they were asked for.
// Semantics are those of the devices (docs/placement.md). Keeps its memory from run to run: O(V +
// E + outputs * devices). Thread-confined.
class PlacementSimulator {
 public:
  PlacementSimulator(OpGraphPtr graph, DeviceSetPtr devices);

  // Executes the graph with operation v on device_of[v]; microseconds from the begin to the end.
  // What is below is about the last run. Pre: [num_ops], each in 0 .. devices - 1 (PACML_CHECK).
  double run(std::span<const std::int32_t> device_of);

  // The same in less time for placements that differ in a group alone: run_for(placement, group)
  // begins, rerun() with that group elsewhere goes on from where that began to matter, which is
  // before the first of its operations' parents starts. Exact. Pre: run_for has been called, and
  // run has not since; the placement is that one but for its group (PACML_CHECK of the former).
  double run_for(std::span<const std::int32_t> device_of, std::size_t group);
  double rerun(std::span<const std::int32_t> device_of);

  [[nodiscard]] const OpGraph& graph() const { return *graph_; }
  [[nodiscard]] const DeviceSet& devices() const { return *devices_; }
  [[nodiscard]] double runtime_us() const { return runtime_us_; }
  // Borrowed until the next run.
  [[nodiscard]] std::span<const std::int32_t> device_of() const { return device_of_; }
  [[nodiscard]] std::span<const double> start_us() const { return state_.start_us; }  // [ops]
  [[nodiscard]] std::span<const double> end_us() const { return state_.end_us; }      // [ops]
  // In the order in which they began.
  [[nodiscard]] std::span<const std::int32_t> op_order() const { return state_.op_order; }
  [[nodiscard]] const PlacedTransfer& transfer(std::int32_t t) const {
    return state_.transfers[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] std::span<const std::int32_t> transfer_order() const {
    return state_.transfer_order;
  }
  // Events that the published algorithm would have taken from its heap.
  [[nodiscard]] std::int64_t num_events() const { return state_.num_events; }
  // Bytes at most at one time on each device; computed when asked for.
  [[nodiscard]] std::span<const double> peak_bytes();

 private:
  // First in, first out: the links are kept by what is queued.
  struct Queue {
    std::int32_t head = -1;
    std::int32_t tail = -1;
    bool is_armed = false;  // an event that serves it is pending
  };
  // Of events, in this order at equal times.
  enum Kind : std::uint64_t { kFinished, kReleased, kChannel, kDevice };
  // The last known release of an operation that still waits for others.
  struct Release {
    double time = -1;
    std::uint64_t tie = 0;
  };

  void place(std::span<const std::int32_t> device_of);
  void begin();
  double finish_run();
  void watch_parents(std::size_t group);
  std::int32_t take_ready(Queue& queue);
  std::int32_t take_transfer(Queue& queue);

  // By the rules of the semantics.
  template <class Rules>
  double execute(const Rules& rules);
  // Keeps the state if the next event starts one of those that are watched.
  template <class Rules>
  void watch(const Rules& rules);
  template <class Rules>
  void start_next(const Rules& rules, std::size_t device, double now);
  // Who is on the device of an operation has its outputs when it ends; the others ask for them.
  template <class Rules>
  void put_out(const Rules& rules, std::size_t op, double end, double now);
  template <class Rules>
  void ask_transfer(const Rules& rules, std::size_t channel, PlacedTransfer transfer);
  template <class Rules>
  void carry_next(const Rules& rules, std::size_t channel, double now);
  template <class Rules>
  void release(const Rules& rules, std::int32_t consumer, double time, std::uint64_t tie,
               double now);
  template <class Rules>
  void make_ready(const Rules& rules, std::size_t op, double now);

  OpGraphPtr graph_;
  DeviceSetPtr devices_;
  const OpFlows* flows_;  // the graph's, by these semantics
  PlacementRules rules_;
  std::vector<std::int32_t> num_inputs_;  // [ops], outputs that it gets

  // All that a run changes as it goes on.
  struct State {
    EventHeap events;
    std::vector<std::int32_t> waiting;  // [ops], inputs that have not come
    std::vector<Release> last_release;  // [ops]
    std::vector<std::int32_t> next_ready;
    std::vector<Queue> ready;          // [devices]
    std::vector<Queue> channels;       // [channels]
    std::vector<std::uint64_t> asked;  // [copies], the run that asked for it
    std::uint64_t run = 0;
    std::vector<PlacedTransfer> transfers;
    std::vector<std::int32_t> transfer_order;
    std::vector<std::int32_t> op_order;
    std::vector<double> start_us;
    std::vector<double> end_us;
    std::int64_t num_events = 0;
  };
  State state_;
  State kept_;
  std::vector<std::uint8_t> is_watched_;  // [ops], before whose start kept_ is to be
  bool is_watching_ = false;              // that has not come yet
  bool is_for_group_ = false;             // the last run was run_for or rerun
  bool has_kept_ = false;

  std::vector<std::int32_t> device_of_;
  double runtime_us_ = 0;
  bool has_peaks_ = false;
  std::vector<double> peak_bytes_;
};

}  // namespace pacml::env
