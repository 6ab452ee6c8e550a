#include "apps/trace/gpu_cluster_json.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/result.h"
#include "env/gpu_cluster/speed_tables_json.h"
#include "env/text/json_member.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using namespace pacml::env;  // NOLINT(google-build-using-namespace): this file speaks of little
                             // else

using Member = JsonMember;

GpuTopologyConfig topology_of(const Member& recorded) {
  GpuTopologyConfig c;
  c.gpus_per_group = recorded["gpus_per_group"].integer(1);
  c.groups_per_socket = recorded["groups_per_socket"].integer(1);
  c.sockets = recorded["sockets"].integer(1);
  if (recorded.has("dims") && !recorded["dims"].value().is_null()) {
    recorded["dims"].for_each([&](const Member& side) { c.dims.push_back(side.integer(1)); });
  } else {
    c.servers = recorded["servers"].integer(1);
  }
  if (recorded.has("servers_per_rack")) {
    c.servers_per_rack = recorded["servers_per_rack"].integer(1);
  }
  if (recorded.has("racks_per_pod") && !recorded["racks_per_pod"].value().is_null()) {
    c.racks_per_pod = recorded["racks_per_pod"].integer();
  }
  if (recorded.has("oversub_rack")) c.oversub_rack = recorded["oversub_rack"].number();
  if (recorded.has("oversub_pod")) c.oversub_pod = recorded["oversub_pod"].number();
  c.gpu_types.clear();
  recorded["gpu_types"].for_each([&](const Member& type) {
    c.gpu_types.push_back({type.at(0).text(), type.at(1).integer(1)});
  });
  return c;
}

GpuRulesConfig rules_of(const Member& policy) {
  GpuRulesConfig c;
  if (policy.has("order")) c.order = policy["order"].name<ScheduleOrder>();
  if (policy.has("place")) c.place = policy["place"].name<PlacementRule>();
  if (policy.has("strict")) c.strict = policy["strict"].flag();
  if (policy.has("window") && !policy["window"].value().is_null()) {
    c.window = policy["window"].integer();
  }
  if (policy.has("max_cost")) c.max_cost = policy["max_cost"].number();
  if (policy.has("eps")) c.eps = policy["eps"].number();
  if (policy.has("preempt")) c.preempt = policy["preempt"].flag();
  if (policy.has("seed")) {
    // All 64 bits of a whole number; of a fraction, no.
    const json& seed = policy["seed"].value();
    c.seed = seed.is_number_integer() ? seed.get<std::uint64_t>()
                                      : static_cast<std::uint64_t>(policy["seed"].whole());
  }
  if (policy.has("spread")) c.candidates.spread = policy["spread"].flag();
  if (policy.has("always_spread")) c.candidates.always_spread = policy["always_spread"].flag();
  if (policy.has("share")) c.candidates.share = policy["share"].name<SharingRule>();
  if (policy.has("gain")) c.candidates.gain = policy["gain"].number();
  return c;
}

json figure(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }

}  // namespace

RecordedGpuCluster recorded_gpu_cluster(const json& recorded) {
  const Member config(recorded, "config");
  GpuClusterConfig c;
  c.topology = topology_of(config["topology"]);
  if (config.has("share")) c.share = config["share"].integer(1);
  if (config.has("host_cap")) c.host_cap = config["host_cap"].number();
  if (config.has("kappa")) {
    const Member kappa = config["kappa"];
    if (kappa.size() != c.kappa.size()) {
      throw UserError("config.kappa: expected 6 numbers, one for each level");
    }
    for (std::size_t i = 0; i < c.kappa.size(); ++i) c.kappa[i] = kappa.at(i).number();
  }
  if (config.has("round")) c.round_s = config["round"].number();
  if (config.has("restart_cost")) c.restart_cost_s = config["restart_cost"].number();
  if (config.has("partitions")) c.partitions = config["partitions"].integer(1);
  if (config.has("route")) c.route = config["route"].name<JobRoute>();
  RecordedGpuCluster out;
  if (config.has("policy")) out.rules = rules_of(config["policy"]);
  if (config.has("log_rewards")) out.log_rewards = config["log_rewards"].flag();
  if (config.has("lockstep")) {
    out.lockstep = LockstepConfig{.round_s = config["lockstep"].number()};
    if (config.has("reset")) out.lockstep->reset_s = config["reset"].number();
  }
  try {
    out.model = std::make_shared<const GpuClusterModel>(c, speed_tables(config));
  } catch (const UserError& error) {
    const std::string what = error.what();
    throw UserError(what.starts_with("config") ? what : "config: " + what);
  }
  return out;
}

std::vector<GpuDecision> recorded_gpu_decisions(const json& recorded) {
  std::vector<GpuDecision> decisions;
  Member(recorded, "decisions").for_each([&](const Member& row) {
    GpuDecision decision{.time_s = row.at(0).number(), .job = row.at(1).integer()};
    const Member what = row.at(2);
    if (what.value() == "preempt") {
      decision.kind = GpuDecision::Kind::kPreempted;
    } else if (what.value() == "act") {
      decision.kind = GpuDecision::Kind::kActed;
      decision.scheduler = row.at(3).integer();
      decision.action = row.at(4).integer();
    } else {
      what.for_each([&](const Member& gpu) { decision.gpus.push_back(gpu.integer()); });
    }
    decisions.push_back(std::move(decision));
  });
  return decisions;
}

json to_json(std::span<const GpuDecision> decisions) {
  json list = json::array();
  for (const GpuDecision& d : decisions) {
    switch (d.kind) {
      case GpuDecision::Kind::kPlaced:
        list.push_back({d.time_s, d.job, d.gpus, d.rates});
        break;
      case GpuDecision::Kind::kActed:
        list.push_back({d.time_s, d.job, "act", d.scheduler, d.action, d.num_actions});
        break;
      case GpuDecision::Kind::kPreempted:
        list.push_back({d.time_s, d.job, "preempt", d.preemptions});
        break;
    }
  }
  return list;
}

json to_json(const GpuClusterMetrics& m) {
  json progress = json::array();
  for (const double p : m.progress) progress.push_back(figure(p));
  return {{"finished", m.finished},
          {"unfinished", m.unfinished},
          {"avg_jct", figure(m.avg_jct)},
          {"p50_jct", figure(m.p50_jct)},
          {"p90_jct", figure(m.p90_jct)},
          {"p99_jct", figure(m.p99_jct)},
          {"avg_queue", figure(m.avg_queue)},
          {"makespan", figure(m.makespan)},
          {"utilisation", figure(m.utilisation)},
          {"active_time", figure(m.active_time)},
          {"mean_slowdown", figure(m.mean_slowdown)},
          {"jain_users", figure(m.jain_users)},
          {"preemptions", m.preemptions},
          {"placements", m.placements},
          {"progress", std::move(progress)}};
}

}  // namespace pacml::apps
