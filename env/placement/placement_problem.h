#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/placement/device_set.h"
#include "env/placement/group_graph.h"
#include "env/placement/op_graph.h"
#include "env/placement/placement_simulator.h"

namespace pacml::env {

// What memory that a device does not have costs.
struct MemoryPenalty {
  double s_per_gb = 0;                  // of the device that is most over its limit; 0: nothing
  std::optional<double> limit_gb = {};  // of every device; absent: what each device has
  // At most so much in all; infinite: no cap. Only where s_per_gb is above 0.
  double cap_s = std::numeric_limits<double>::infinity();
  bool operator==(const MemoryPenalty&) const = default;
};

// R = runtime + s_per_gb * max(0, max over devices of peak - limit), at most cap_s. Pure.
[[nodiscard]] double penalised_runtime_s(double runtime_us, std::span<const double> peak_bytes,
                                         const DeviceSet& devices, const MemoryPenalty& penalty);

// Outputs times devices that a problem may have: each output can be on its way to each device,
// which whoever simulates keeps account of.
inline constexpr std::size_t kMostCopies = std::size_t{1} << 25;

// A graph that is to be placed on devices, one device for each group. Immutable; any thread.
struct PlacementProblem {
  // UserError: more outputs times devices than kMostCopies.
  PlacementProblem(OpGraphPtr ops, DeviceSetPtr on, MemoryPenalty for_memory = {});

  OpGraphPtr graph;
  DeviceSetPtr devices;
  MemoryPenalty penalty;
  std::shared_ptr<const GroupGraph> groups;

  [[nodiscard]] std::size_t num_groups() const { return graph->num_groups(); }
  [[nodiscard]] std::size_t num_devices() const { return devices->size(); }
  // What a device may hold by the penalty's limit, or by what it has; infinite: no limit.
  [[nodiscard]] double limit_bytes(std::size_t device) const;
  // Whether any device has one.
  [[nodiscard]] bool is_limited() const;
  // Of what lies on each device at most, [devices], what is over the limit of the device that is
  // most over its own; 0: all fit.
  [[nodiscard]] double over_limit_bytes(std::span<const double> peak_bytes) const;
  // Why no placement can be without a penalty, as far as that is plain: an operation, or all
  // weights together, larger than memory. Empty: none is known.
  [[nodiscard]] std::optional<std::string> never_fits() const;
};
using PlacementProblemPtr = std::shared_ptr<const PlacementProblem>;

// Places groups and measures: the one way to R for searches, tasks and tables. Counts what it
// simulates. Thread-confined.
class PlacementEvaluator {
 public:
  explicit PlacementEvaluator(PlacementProblemPtr problem);

  // Seconds. Pre: [groups], each in 0 .. devices - 1 (PACML_CHECK).
  double runtime_s(std::span<const std::int32_t> device_of_group);

  // The same with `group` on each device, all others being where they are: what runtime_s would
  // say, in less time with more than two devices, since what comes before the group is simulated
  // once. devices - 1 simulations; `now_s`: with the group where it is. [devices], borrowed until
  // the next call.
  std::span<const double> runtimes_if_moved(std::span<const std::int32_t> device_of_group,
                                            std::size_t group, double now_s);

  [[nodiscard]] const PlacementProblem& problem() const { return *problem_; }
  [[nodiscard]] std::int64_t num_simulations() const { return num_simulations_; }
  // About the last one.
  [[nodiscard]] PlacementSimulator& simulator() { return simulator_; }
  [[nodiscard]] const PlacementSimulator& simulator() const { return simulator_; }

 private:
  void place(std::span<const std::int32_t> device_of_group);
  // Of the last run.
  [[nodiscard]] double penalised_s();
  // Whether all that is ever on a device together is no more than its limit.
  [[nodiscard]] bool surely_fits();

  PlacementProblemPtr problem_;
  PlacementSimulator simulator_;
  std::vector<std::int32_t> device_of_op_;
  std::vector<double> held_;  // scratch, [devices]
  std::vector<std::int32_t> moved_;
  std::vector<double> runtimes_;
  std::int64_t num_simulations_ = 0;
};

}  // namespace pacml::env
