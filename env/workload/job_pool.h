#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/ids.h"

namespace pacml::env {

class WorkloadPlan;

struct ArrivingJob {
  int model = 0;        // index into the environment's models
  double fraction = 1;  // of the sequential completion time; what the job may take
  bool operator==(const ArrivingJob&) const = default;
};

// One job of an explicit list, e.g. of a recorded run.
struct RecordedJob {
  int model = 0;
  double fraction = 1;
  double interarrival_before =
      0;  // time since the previous job's arrival; the first one's is unused
};

// Extremes over the jobs of one model, which observations are normalised by.
struct ModelFractions {
  int jobs = 0;  // 0: the model is not in the pool, and the other two mean nothing
  double min = 0;
  double max = 0;
};

// The jobs that one episode draws from. Each keeps its fraction however often it is drawn, as
// published. Immutable.
class JobPool {
 public:
  // plan.replication_factor() jobs of every model; a pure function of the plan and the seed.
  JobPool(const WorkloadPlan& plan, Seed episode);
  // The jobs of a list, in its order, of which statistics() counts the first `counted`. Pre: 0 <=
  // model < num_models, counted <= jobs.size() (PACML_CHECK).
  JobPool(std::span<const RecordedJob> jobs, int num_models, std::size_t counted);

  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] const ArrivingJob& job(std::size_t index) const { return jobs_[index]; }
  // Per model, exact over the whole pool, or over what is counted of a list.
  [[nodiscard]] std::span<const ModelFractions> statistics() const { return statistics_; }

 private:
  std::vector<ArrivingJob> jobs_;
  std::vector<ModelFractions> statistics_;
};

}  // namespace pacml::env
