#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/workload/distribution.h"
#include "env/workload/workload_plan.h"

namespace pacml::env {

// Where a plan's episodes differ in their requirement or their load: how likely each of them is,
// by what has come so far in one (Bayes's rule; before anything has come all are equally likely).
// So a future that is drawn by it knows no more than who has watched. Value type; what there is
// only one of costs nothing. Whatever asks for a plan means that of the constructor.
class WorkloadBelief {
 public:
  explicit WorkloadBelief(const WorkloadPlan& plan);

  // A job of that limit has come; of no record.
  void see(const WorkloadPlan& plan, double fraction);

  // A requirement, for a word that is uniformly distributed; of one that every episode draws anew,
  // what it is with the configuration's own seed.
  [[nodiscard]] std::shared_ptr<const Distribution> requirement(const WorkloadPlan& plan,
                                                                std::uint64_t word) const;
  // A load, for another word, when so many jobs have come, the first one at time 0 and the last one
  // at `time`: by how many those are against how many there were to be. That is exact for Poisson
  // processes, whatever the time of day, and cautious for arrivals that are more regular. Those of
  // a record come in bursts, which nobody could tell from load: of them, any.
  [[nodiscard]] static double load(const WorkloadPlan& plan, std::uint64_t jobs, double time,
                                   std::uint64_t word);

 private:
  std::vector<double> log_likelihoods_;  // of each requirement; empty: there is one
};

}  // namespace pacml::env
