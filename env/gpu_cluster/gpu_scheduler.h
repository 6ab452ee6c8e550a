#pragma once

#include "env/gpu_cluster/gpu_cluster_state.h"

namespace pacml::env {

// Who decides which jobs run where. Thread-confined.
class GpuScheduler {
 public:
  virtual ~GpuScheduler() = default;
  // The order in which it goes through jobs that wait.
  [[nodiscard]] virtual QueueOrder queue_order() const = 0;
  // Takes all decisions of an instant: places, pre-empts and forwards jobs.
  virtual void decide(GpuClusterState& state) = 0;
  // Whether it could still do something where it has just done nothing, and nothing has happened
  // since.
  [[nodiscard]] virtual bool may_change_its_mind() const { return false; }
};

}  // namespace pacml::env
