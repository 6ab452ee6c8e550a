#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/ids.h"
#include "env/workload/distribution.h"
#include "env/workload/job_pool.h"
#include "env/workload/word_stream.h"
#include "env/workload/workload_belief.h"
#include "env/workload/workload_plan.h"

namespace pacml::env {

// The jobs of one episode in order of arrival: a pure function of the plan and the seed. A value: a
// copy goes on from the same place, and costs two reference counts. Thread-confined.
class JobStream {
 public:
  JobStream(std::shared_ptr<const WorkloadPlan> plan, Seed episode);
  // The jobs of `jobs` in their order, each once. Pre: 0 <= model < num_models (PACML_CHECK).
  [[nodiscard]] static JobStream from_list(std::vector<RecordedJob> jobs, int num_models);

  // True when no job is left. A stream that draws with replacement or repeats never is.
  [[nodiscard]] bool exhausted() const;
  // The next job. Pre: !exhausted() (PACML_CHECK).
  ArrivingJob next();
  // Time between the arrivals of the job that next() gave last, which was at `arrived`, and the one
  // that it will give next; infinite when exhausted. Calling it changes nothing.
  [[nodiscard]] double next_interarrival(double arrived) const;
  // What next() and next_interarrival() give from now on is drawn anew, as a pure function of the
  // plan, of `seed`, and of what has come so far, the last job at `arrived`: the load and the
  // requirement by how likely each is by then (workload_belief.h), and each job by itself, its
  // model uniformly and its fraction from the requirement, without a pool, so that it costs
  // nothing to draw a future; of a plan with recorded jobs, each is one of those that are known,
  // and each time between arrivals another one's. A stream that ends does so after as many more
  // jobs as before. statistics() stay those of the episode as it began. Drawn anew again, it goes
  // by what had come before the first time. False: a list is not drawn.
  [[nodiscard]] bool redraw(Seed seed, double arrived);
  // Per model, exact over the jobs that the episode draws from; of a record, over those that are
  // known, whichever part is played.
  [[nodiscard]] std::span<const ModelFractions> statistics() const;

 private:
  struct Episode;
  explicit JobStream(std::shared_ptr<const Episode> episode);
  ArrivingJob draw();

  // Jobs that are drawn one by one.
  struct Draws {
    int num_models;
    std::shared_ptr<const Distribution> requirement;  // null: jobs of the record
    WordStream models, fractions, intervals;
    double load;
  };

  // What was known when they were drawn first.
  struct Seen {
    std::uint64_t jobs = 0;
    double time = 0;
  };

  std::shared_ptr<const Episode> episode_;
  std::optional<Draws> redrawn_;
  std::optional<WorkloadBelief> belief_;  // none: a list
  Seen seen_;
  // Indices into the pool in the order of the current pass over it; null when drawing with
  // replacement or from a list.
  std::shared_ptr<const std::vector<std::uint32_t>> order_;
  std::uint64_t drawn_ = 0;
};

}  // namespace pacml::env
