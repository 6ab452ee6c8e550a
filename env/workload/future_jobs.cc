#include "env/workload/future_jobs.h"

#include <limits>
#include <utility>

#include "common/check.h"

namespace pacml::env {

FutureJobs::FutureJobs(JobStream jobs, double arrived)
    : first_(jobs), jobs_(std::move(jobs)), next_time_(arrived + jobs_.next_interarrival(arrived)) {
  constexpr std::size_t kUsualHorizon = 48;
  drawn_.reserve(kUsualHorizon);
}

FutureJobs FutureJobs::redrawn(std::size_t n, Seed seed, double arrived) const {
  JobStream jobs = first_;
  for (std::size_t i = 0; i < n; ++i) static_cast<void>(jobs.next());
  PACML_CHECK(jobs.redraw(seed, arrived), "a list of jobs has one future");
  return {std::move(jobs), arrived};
}

FutureJobs::Arrival FutureJobs::draw(std::size_t n) {
  while (drawn_.size() <= n) {
    if (jobs_.exhausted()) return {std::numeric_limits<double>::infinity(), {}};
    drawn_.push_back({next_time_, jobs_.next()});
    next_time_ += jobs_.next_interarrival(next_time_);
  }
  return drawn_[n];
}

}  // namespace pacml::env
