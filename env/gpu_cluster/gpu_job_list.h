#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/gpu_cluster/gpu_cluster_model.h"

namespace pacml::env {

// A job as simulations read it.
struct GpuJob {
  double submit_s = 0;
  double steps = 0;
  double best_rate = 0;    // steps/s: its shape's
  std::int32_t shape = 0;  // of the model's speeds
  std::int32_t type = 0;
  std::int32_t gpus = 0;
  std::int32_t user = 0;    // users are by name, so that comparing indices compares names
  std::int32_t rank = 0;    // in the order of arrival
  std::int32_t number = 0;  // as its spec says
  GpuComm comm = GpuComm::kRing;
};

// UserError: an episode's jobs, which want up to so many GPU-seconds, could arrive over more than
// kMostSeconds where they are to be that load of so many GPUs.
void check_load(double gpu_seconds, double gpus, double load);

// Stretches times of arrival, the last of which is greatest, so that jobs that want so many
// GPU-seconds are that load of so many GPUs. Pre: check_load() finds that they may.
void stretch_arrivals(std::span<GpuJobSpec> jobs, double gpu_seconds, double gpus, double load);

// The jobs of an episode; a job's id is its place in the list. Shared
// as const; any thread then.
class GpuJobList {
 public:
  // UserError, one sentence that names the job: none at all, a time or steps out of range, a type
  // or size that the model has no speed for, more GPUs than the cluster has.
  GpuJobList(const GpuClusterModel& model, std::span<const GpuJobSpec> jobs);

  // Job `id` wants as many GPUs as the shape, one of its type's, says (GpuClusterState::resize).
  void set_shape(const GpuClusterModel& model, std::int32_t id, std::int32_t shape);

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] const GpuJob& operator[](std::int32_t id) const {
    return jobs_[static_cast<std::size_t>(id)];
  }
  // By time, then id.
  [[nodiscard]] std::span<const std::int32_t> arrivals() const { return arrivals_; }
  [[nodiscard]] std::span<const std::string> users() const { return users_; }

 private:
  std::vector<GpuJob> jobs_;
  std::vector<std::int32_t> arrivals_;
  std::vector<std::string> users_;
};
using GpuJobListPtr = std::shared_ptr<const GpuJobList>;

}  // namespace pacml::env
