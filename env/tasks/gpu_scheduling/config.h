#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/experience/observation_spec.h"
#include "env/gpu_cluster/generated_workload.h"
#include "env/gpu_cluster/gpu_candidates.h"
#include "env/gpu_cluster/gpu_cluster_model.h"
#include "env/gpu_cluster/place_by_rule.h"
#include "env/gpu_cluster/trace_jobs.h"

// What the settings of tasks have in common in which jobs of a GPU cluster are scheduled.

namespace pacml::env {

// What schedulers are paid for, in units of what a job takes alone on average. The first two differ
// by what nobody can change; but where what follows is discounted, time until a long job is done
// counts the same whether it runs or waits, so that it is never begun, and its delay does not.
enum class SchedulingReward {
  kActiveTime,  // - integral of the jobs in the system: their sum is that of all completion times
  kDelay,       // ... less the speed of each over its best: that of all times longer than alone
  kProgress,    // shares of jobs done; pays short jobs more for their time, and waiting nothing
};
constexpr auto enum_names(SchedulingReward /*unused*/) {
  return std::to_array<EnumName<SchedulingReward>>({{"active_time", SchedulingReward::kActiveTime},
                                                    {"delay", SchedulingReward::kDelay},
                                                    {"progress", SchedulingReward::kProgress}});
}

// What a scheduler that hands a job on to another one pays it, out of its reward.
enum class Handover {
  kFree,  // nothing: each gains by giving its jobs away
  // ... for whoever starts the job, what it is expected to cost there: the time by which it delays
  // those that wait, and under active_time what it takes alone. Nothing under progress. How long
  // the job itself will wait there is not in it.
  kPriced,
};
constexpr auto enum_names(Handover /*unused*/) {
  return std::to_array<EnumName<Handover>>(
      {{"free", Handover::kFree}, {"priced", Handover::kPriced}});
}

// How much of what it could do a scheduler is offered.
struct OffersConfig {
  int jobs = 6;    // the first in line that could go anywhere
  int places = 4;  // for each; those that delay everybody the least, and one of each kind
  // For each: other schedulers with room, where here is no server with room, or slower GPUs.
  int forwards = 1;
  int handovers = 1;  // a job is forwarded no more often than that
  // The first `jobs` in line that have no such forward may be handed on to wait in the line of a
  // scheduler whose GPUs are faster for them.
  bool wait_for_faster = true;
  bool pass = true;  // it may leave all of them waiting, as long as any of its GPUs is taken
  // Of so many sizes that a job has a speed at, the smallest first, instead of the one that it asks
  // for alone; 0: that one. One place each, by a rule.
  int sizes = 0;
  CandidateRules rules = {.share = SharingRule::kAlways};
  bool operator==(const OffersConfig&) const = default;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, OffersConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("jobs", c.jobs);
  v("places", c.places);
  v("forwards", c.forwards);
  v("handovers", c.handovers);
  v("wait_for_faster", c.wait_for_faster);
  v("pass", c.pass);
  v("rules", c.rules);
}
[[nodiscard]] std::vector<std::string> validate(const OffersConfig& c);

// A cluster and the jobs that come to it: what a task's settings begin with.
struct GpuWorkloadConfig {
  GpuClusterConfig cluster = named_gpu_cluster("small16").cluster;
  std::string speeds;        // file of tables (env/gpu_cluster/speed_tables_json.h); empty: made up
  bool interference = true;  // jobs on one GPU slow each other down as the tables say; else not
  // Jobs of an episode: out of a trace where there is one, of which `jobs` then says how many, how
  // large and how long they are and their load; else all that `jobs` says.
  GeneratedJobsConfig jobs = {};
  TraceJobsConfig trace = {};
  // Files of recorded schedules; where there are any, episodes are their jobs as they stand.
  std::vector<std::string> job_lists = {};
  bool operator==(const GpuWorkloadConfig&) const = default;
};
template <class Config, class Visitor>
void visit_workload(Config& c, Visitor&& v) {
  v("cluster", c.cluster);
  v("speeds", c.speeds);
  v("interference", c.interference);
  v("jobs", c.jobs);
  v("trace", c.trace);
  v("job_lists", c.job_lists);
}
template <class Visitor>
void visit_paths(GpuWorkloadConfig& c, Visitor&& v) {
  v(c.speeds);
  v(c.trace.file);
  for (std::string& file : c.job_lists) v(file);
}
[[nodiscard]] std::vector<std::string> workload_problems(const GpuWorkloadConfig& c);
// The same, of a task in which one scheduler leaves to a rule where jobs run.
[[nodiscard]] std::vector<std::string> one_scheduler_problems(const GpuWorkloadConfig& c,
                                                              PlacementRule place);

// What schedulers see, may do and are paid for, whatever the settings of their task are called.
struct SchedulingRules {
  QueueOrder line = QueueOrder::kSrtf;  // by which jobs are offered
  OffersConfig offers = {};
  std::optional<PlacementRule> place = {};  // the one place that a job is offered; none: the best
  SchedulingReward reward = SchedulingReward::kActiveTime;
  double own_share = 1;  // of a scheduler's reward that is for its own jobs; the rest is for all
  Handover handover = Handover::kFree;
  bool messages = true;  // schedulers tell each other what they have and what waits there
};

// What a decision shows: the scheduler's servers and what the others tell, and what it may do as
// candidates, as many as there are. Pre: the settings of both are valid.
[[nodiscard]] ObservationSpec scheduling_observation(const GpuClusterConfig& cluster,
                                                     const OffersConfig& offers);

}  // namespace pacml::env
