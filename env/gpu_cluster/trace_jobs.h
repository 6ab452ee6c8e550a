#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/ids.h"
#include "common/rng.h"
#include "env/gpu_cluster/generated_workload.h"

namespace pacml::env {

// Which jobs of a recorded trace (env/gpu_cluster/job_trace.h).
struct TraceJobsConfig {
  std::string file = {};  // its first line says its format; empty: there is none
  double from = 0;        // of the trace's jobs by their arrival, from this share of them on ...
  double until = 0.7;     // ... to this one: what is behind it is to be tested on
  bool operator==(const TraceJobsConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, TraceJobsConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("file", c.file);
  v("from", c.from);
  v("until", c.until);
}
[[nodiscard]] std::vector<std::string> validate(const TraceJobsConfig& c);

// Jobs in a row of a trace; a share of a GPU counts as a whole one. What it does not say is drawn,
// a type among those with a speed at the job's size, also for a job of a type that has none there;
// jobs of sizes that have none, or larger than largest_gpus, or that say neither duration nor
// steps, are left out. Immutable; any thread.
class TraceJobs {
 public:
  // Of `jobs`: how many, up to which size; durations are cut to least_s .. most_s. `own_speeds`:
  // whether the user has said how fast which type is. UserError: the file cannot be read, has fewer
  // such jobs, or one of more than kMostSteps, or names types, none of which the user has speeds
  // for; or rows of its jobs could arrive over more than kMostSeconds.
  TraceJobs(const GpuClusterModel& model, const TraceJobsConfig& trace,
            const GeneratedJobsConfig& jobs, bool own_speeds);

  [[nodiscard]] double mean_alone_s() const { return mean_alone_s_; }
  // So many in a row from anywhere in the part, in the order of their arrival: the longest gaps
  // between them, fewer than 5 %, are cut to the next one, and all are stretched to the load. A
  // pure function of the seed.
  [[nodiscard]] std::vector<GpuJobSpec> draw(Seed seed) const;
  // The same for another future of draw(episode), of whose jobs `arrived` have come: a row of which
  // none behind its first `arrived` is still to come there. Empty: the part has no such row, which
  // can be where it is shorter than three episodes. A pure function of its arguments.
  [[nodiscard]] std::vector<GpuJobSpec> draw_other(Seed seed, Seed episode,
                                                   std::size_t arrived) const;

 private:
  // The places where a row may begin.
  [[nodiscard]] std::size_t num_rows() const { return jobs_.size() - count_ + 1; }
  // GPU-seconds that the jobs of a row want, the most of all rows.
  [[nodiscard]] double most_wanted() const;
  // The row that begins there.
  [[nodiscard]] std::vector<GpuJobSpec> row(std::size_t first, Rng& rng) const;

  struct Job {
    double submit_s = 0;
    double alone_s = 0;
    double steps = 0;
    std::int32_t gpus = 0;
    std::int32_t type = 0;
    std::int32_t user = 0;
  };
  std::vector<Job> jobs_;  // of the part, by arrival
  std::vector<std::string> types_;
  std::vector<std::string> users_;
  std::size_t count_;
  double load_;
  double num_gpus_;
  double mean_alone_s_ = 0;
};

}  // namespace pacml::env
