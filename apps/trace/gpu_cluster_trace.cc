#include "apps/trace/gpu_cluster_trace.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/trace/gpu_cluster_json.h"
#include "common/result.h"
#include "env/gpu_cluster/gpu_cluster_simulator.h"
#include "env/gpu_cluster/gpu_jobs_json.h"
#include "env/gpu_cluster/gpu_replay.h"
#include "env/text/json_member.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using namespace pacml::env;  // NOLINT(google-build-using-namespace): this file speaks of little
                             // else

const json& part(const json& recorded, const char* key) {
  const auto it = recorded.find(key);
  if (it == recorded.end()) {
    throw UserError(std::string("the recording has no \"") + key + "\"");
  }
  return *it;
}

json time_or_null(double v) { return v == GpuJobProgress::kNever ? json(nullptr) : json(v); }

json finish_of(const GpuClusterState& state) {
  json list = json::array();
  for (std::size_t i = 0; i < state.jobs().size(); ++i) {
    const GpuJobProgress& of = state.progress(static_cast<std::int32_t>(i));
    list.push_back({i, time_or_null(of.start), time_or_null(of.finish)});
  }
  return list;
}

// From arrival to end; null for a job that was lost.
json completion_times(const GpuClusterState& state) {
  json list = json::array();
  for (std::size_t i = 0; i < state.jobs().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const double finish = state.progress(id).finish;
    list.push_back(finish == GpuJobProgress::kNever ? json(nullptr)
                                                    : json(finish - state.jobs()[id].submit_s));
  }
  return list;
}

void put(const GpuClusterState& state, const std::vector<GpuDecision>& decisions, json& out) {
  out["decisions"] = to_json(decisions);
  out["metrics"] = to_json(gpu_cluster_metrics(state));
  out["finish"] = finish_of(state);
}

// A recording of Gavel holds its completion times instead of decisions and ends.
void replay_rounds(const RecordedGpuCluster& cluster, const GpuJobListPtr& jobs, json& out) {
  const auto scheduler = make_rule_scheduler(cluster.rules);
  GpuClusterState state(cluster.model, jobs, scheduler->queue_order());
  std::vector<GpuDecision> decisions;
  state.record_to(&decisions);
  const std::int64_t rounds = run_lockstep(state, *scheduler, *cluster.lockstep);
  const bool is_gavel = out.contains("gavel_jct") && !out.contains("finish");
  out["gavel_jct"] = completion_times(state);
  if (!is_gavel) {
    put(state, decisions, out);
    out["rewards"] = json::array();
    return;
  }
  const json metrics = to_json(gpu_cluster_metrics(state));
  out["decisions"] = json::array();
  out["metrics"] = {
      {"finished", metrics.at("finished")}, {"avg_jct", metrics.at("avg_jct")}, {"rounds", rounds}};
}

void replay_events(const RecordedGpuCluster& cluster, const GpuJobListPtr& jobs, const json* taken,
                   json& out) {
  const auto scheduler = make_rule_scheduler(cluster.rules);
  GpuClusterSimulator simulator(cluster.model, jobs, scheduler->queue_order());
  std::vector<GpuDecision> decisions;
  simulator.state().record_to(&decisions);
  json rewards = json::array();
  const auto log_rewards = [&](const GpuClusterState& state) {
    if (!cluster.log_rewards) return;
    json progress = json::array();
    for (int p = 0; p < state.model().config().partitions; ++p) {
      progress.push_back(state.progress_now(p));
    }
    rewards.push_back({state.now(), state.active_job_s(), std::move(progress)});
  };
  if (taken != nullptr) {
    run_decisions(simulator, recorded_gpu_decisions(*taken), cluster.rules.candidates, log_rewards,
                  cluster.rules.preempt);
  } else {
    run_schedule(simulator, *scheduler, log_rewards);
  }
  put(simulator.state(), decisions, out);
  out["rewards"] = std::move(rewards);
}

}  // namespace

json replay_gpu_cluster(const json& recorded, bool take_decisions) {
  const RecordedGpuCluster cluster = recorded_gpu_cluster(part(recorded, "config"));
  const auto jobs = std::make_shared<const GpuJobList>(
      *cluster.model, recorded_gpu_jobs(JsonMember(part(recorded, "jobs"), "jobs")));
  json out = recorded;
  if (!cluster.lockstep) {
    replay_events(cluster, jobs, take_decisions ? &part(recorded, "decisions") : nullptr, out);
  } else if (take_decisions) {
    throw UserError("decisions of rounds in lock-step cannot be replayed");
  } else {
    replay_rounds(cluster, jobs, out);
  }
  return out;
}

}  // namespace pacml::apps
