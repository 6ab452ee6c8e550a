#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "env/ramp/execution_memo.h"

namespace pacml::env {

// Why a job was blocked.
enum class BlockCause { kNone, kOpPartition, kOpPlacement, kCompletionTime, kSimulationEnded };
inline constexpr std::size_t kNumBlockCauses = 5;
[[nodiscard]] const char* name_of(BlockCause cause);

// A job that has arrived. `sequential_time` and `max_acceptable_time` are of the original job.
struct Job {
  int index = 0;  // by arrival, from 0
  int model = 0;  // graph number
  double fraction = 1;
  double arrived = 0;
  double sequential_time = 0;
  double max_acceptable_time = 0;
};

// What may be decided about the queued job.
struct JobDecision {
  int degree = 0;  // how far it is cut; 0 refuses it
  // The servers that it may be placed on, as far as they are free; null: all of them, which is
  // RAMP's own first fit. Borrowed.
  const ServerSet* block = nullptr;
};

// A RAMP cluster where a job waits, as whoever decides about it sees it: the simulated one, or one
// that is imagined. Thread-confined.
class ClusterSight {
 public:
  virtual ~ClusterSight() = default;

  // Pre of all that asks about it: a job waits (PACML_CHECK).
  [[nodiscard]] virtual const Job& waiting_job() const = 0;
  // What would become of it: whether it would be placed, where, and be done in time. Where it would
  // be placed, equal numbers are equal placements.
  struct Outlook {
    BlockCause cause = BlockCause::kNone;
    std::uint32_t placement = 0;
  };
  [[nodiscard]] virtual Outlook outlook(const JobDecision& decision) const = 0;

  // Until the time is up, in simulated time.
  [[nodiscard]] virtual double time_left() const = 0;
  [[nodiscard]] virtual std::size_t num_running() const = 0;
  struct RunningJob {
    double remaining = 0;                    // simulated time
    std::span<const std::uint64_t> servers;  // as ServerSet::words()
  };
  [[nodiscard]] virtual RunningJob running_job(std::size_t i) const = 0;
  // Workers that are in use as the mask and the observation see it: at the start of the last tick
  // as published, or now (fresh_occupancy).
  [[nodiscard]] virtual int mounted_workers() const = 0;

  [[nodiscard]] virtual ExecutionMemo& memo() const = 0;
  [[nodiscard]] virtual int num_training_steps() const = 0;

 protected:
  ClusterSight() = default;
  ClusterSight(const ClusterSight&) = default;
  ClusterSight(ClusterSight&&) = default;
  ClusterSight& operator=(const ClusterSight&) = default;
  ClusterSight& operator=(ClusterSight&&) = default;
};

}  // namespace pacml::env
