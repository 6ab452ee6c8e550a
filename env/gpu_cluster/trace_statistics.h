#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/gpu_cluster/job_trace.h"

namespace pacml::env {

// What a trace is like. 16 bytes a job. Thread-confined.
class TraceStatistics {
 public:
  static constexpr std::int64_t kMostJobs = 20'000'000;

  // UserError: more than kMostJobs.
  void add(const TraceJob& job);

  [[nodiscard]] std::int64_t num_jobs() const { return static_cast<std::int64_t>(submits_.size()); }
  [[nodiscard]] std::int64_t num_with_duration() const {
    return static_cast<std::int64_t>(durations_.size());
  }
  // From the first arrival to the last.
  [[nodiscard]] double first_s() const { return first_s_; }
  [[nodiscard]] double span_s() const { return last_s_ - first_s_; }
  // Of jobs that say how long they ran; a part of a GPU counts as such.
  [[nodiscard]] double gpu_seconds() const { return gpu_seconds_; }
  // Nearest rank. Pre: num_with_duration() > 0.
  [[nodiscard]] double duration_s(double share) const;
  [[nodiscard]] const std::map<int, std::int64_t>& jobs_of_size() const { return sizes_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& jobs_in_state() const { return states_; }
  // How many arrived in each of so many equal parts of the span.
  [[nodiscard]] std::vector<std::int64_t> arrivals(std::size_t parts) const;

 private:
  double first_s_ = 0;
  double last_s_ = 0;
  double gpu_seconds_ = 0;
  std::vector<double> submits_;
  mutable std::vector<double> durations_;
  std::map<int, std::int64_t> sizes_;
  std::map<std::string, std::int64_t> states_;  // at most kMostStates
};

// The factor by which times of arrival are multiplied so that the GPU-seconds that are wanted are
// `load` times those that `gpus` GPUs have until the last arrival. UserError: nobody says how long
// it ran, or all arrive at once.
[[nodiscard]] double time_scale(const TraceStatistics& statistics, double load, double gpus);

}  // namespace pacml::env
