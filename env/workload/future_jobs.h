#pragma once

#include <cstddef>
#include <vector>

#include "env/workload/job_stream.h"

namespace pacml::env {

// The jobs that arrive in a future that is imagined, drawn once for all who imagine it, whatever
// each of them decides. Thread-confined.
class FutureJobs {
 public:
  // `jobs`: what arrives from here on. `arrived`: when that did which it gave last.
  FutureJobs(JobStream jobs, double arrived);
  // What may arrive instead when `n` of these have arrived, the last one at `arrived`. Pre: they
  // were drawn by a plan (PACML_CHECK).
  [[nodiscard]] FutureJobs redrawn(std::size_t n, Seed seed, double arrived) const;

  struct Arrival {
    double time = 0;  // when it is due; infinite: no job is left, and the rest means nothing
    ArrivingJob job;
  };
  // Number `n` of those that arrive, from 0.
  [[nodiscard]] Arrival at(std::size_t n) { return n < drawn_.size() ? drawn_[n] : draw(n); }

 private:
  [[nodiscard]] Arrival draw(std::size_t n);

  JobStream first_;  // before any of drawn_
  JobStream jobs_;
  double next_time_;
  std::vector<Arrival> drawn_;
};

}  // namespace pacml::env
