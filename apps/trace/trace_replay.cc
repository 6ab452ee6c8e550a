#include "apps/trace/trace_replay.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/trace/episode_statistics.h"
#include "apps/trace/gpu_cluster_trace.h"
#include "apps/trace/placement_trace.h"
#include "apps/trace/trace_number.h"
#include "common/config/named_enum.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/text.h"
#include "env/graph/profile_library.h"
#include "env/numerics.h"
#include "env/tasks/partitioning/environment.h"
#include "env/text/json_member.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using namespace pacml::env;  // NOLINT(google-build-using-namespace): this file speaks of little
                             // else

double to_double(const json& v) {
  if (v.is_number()) return v.get<double>();
  if (v == "inf") return std::numeric_limits<double>::infinity();
  throw UserError("expected a number, found " + json_text(v));
}

int to_int(const json& v) {
  if (v.is_number_integer()) {
    const double value = v.get<double>();
    if (std::abs(value) <= std::numeric_limits<int>::max()) return v.get<int>();
  }
  throw UserError("expected a whole number, found " + json_text(v));
}

// The shortest decimal that reads back as the same float32.
double shortest(float v) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), v).ptr;
  double out = 0;
  std::from_chars(text.data(), end, out);
  return out;
}

const json& member(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) throw UserError(std::string("the trace has no \"") + key + "\"");
  return *it;
}

// A recording that asks for something else than is replayed would be compared with another thing.
template <class Enum>
Enum named(const std::string& text, const std::string& what) {
  if (const auto value = value_named<Enum>(text)) return *value;
  throw UserError(what + " is an unknown '" + text + "'" + did_you_mean(text, names_of<Enum>()));
}

void require_known_settings(const json& settings, const std::string& reward) {
  static constexpr std::array kSettings = {
      "success_reward",  "fail_reward",        "fail_reward_factor",
      "blocking_weight", "normalise",          "normaliser",
      "inverse",         "transform_with_log", "sign"};
  if (!settings.is_object()) throw UserError(reward + ": kwargs is no map");
  require_known_keys(settings, kSettings, reward);
}

// JobAcceptance alone can be told what a blocked job counts; another wish is not replayed as if it
// had been this one.
void require_known_fail_reward(RewardKind kind, const json& settings, const std::string& reward) {
  static constexpr const char* kSequential = "job_sequential_completion_time";
  const auto it = settings.find("fail_reward");
  if (it == settings.end() || kind == RewardKind::kJobAcceptance) return;
  if (kind != RewardKind::kLookaheadJct) {
    throw UserError(reward + " has a \"fail_reward\", which its class does not take");
  }
  if (*it != kSequential) {
    throw UserError(reward + ": fail_reward can only be \"" + kSequential + "\", found " +
                    json_text(*it));
  }
}

RewardConfig reward_config(const std::string& name, const json& recorded) {
  static const std::map<std::string, RewardKind> kKinds = {
      {"JobAcceptance", RewardKind::kJobAcceptance},
      {"LookaheadJobCompletionTime", RewardKind::kLookaheadJct},
      {"MultiObjectiveJCTBlocking", RewardKind::kMultiObjectiveJctBlocking},
      {"MeanComputeThroughput", RewardKind::kMeanComputeThroughput},
      {"MeanClusterThroughput", RewardKind::kMeanClusterThroughput},
      {"MeanDemandTotalThroughput", RewardKind::kMeanDemandTotalThroughput}};
  const auto kind = kKinds.find(member(recorded, "cls").get<std::string>());
  if (kind == kKinds.end())
    throw UserError("reward \"" + name + "\" is of a class that is not known");
  RewardConfig c;
  c.kind = kind->second;
  const json& kwargs = member(recorded, "kwargs");
  require_known_settings(kwargs, "reward \"" + name + "\"");
  require_known_fail_reward(c.kind, kwargs, "reward \"" + name + "\"");
  c.success_reward = kwargs.value("success_reward", c.success_reward);
  if (c.kind == RewardKind::kJobAcceptance)
    c.fail_reward = kwargs.value("fail_reward", c.fail_reward);
  c.fail_reward_factor = kwargs.value("fail_reward_factor", c.fail_reward_factor);
  c.blocking_weight = kwargs.value("blocking_weight", c.blocking_weight);
  c.normalise = kwargs.value("normalise", c.normalise);
  c.inverse = kwargs.value("inverse", c.inverse);
  c.transform_with_log = kwargs.value("transform_with_log", c.transform_with_log);
  if (kwargs.contains("sign")) c.sign = kwargs.at("sign").get<double>();
  c.normaliser = named<RewardNormaliser>(kwargs.value("normaliser", "none"),
                                         "the normaliser of reward \"" + name + "\"");
  return c;
}

PartitioningConfig partitioning_config(const json& recorded) {
  const json& c = member(recorded, "config");
  PartitioningConfig out;
  const json& topology = member(c, "topology");
  if (topology.size() != 3) throw UserError("config: topology must be three whole numbers");
  for (std::size_t i = 0; i < 3; ++i) out.ramp.topology[i] = to_int(topology.at(i));
  out.ramp.num_channels = to_int(member(c, "num_channels"));
  out.ramp.total_node_bandwidth = to_double(member(c, "total_node_bandwidth"));
  out.ramp.propagation_latency = to_double(member(c, "intra_gpu_propagation_latency"));
  out.ramp.worker_io_latency = to_double(member(c, "worker_io_latency"));
  out.ramp.worker_memory = to_double(member(c, "worker_memory_capacity"));
  out.cluster.max_simulation_time = to_double(member(c, "max_simulation_run_time"));
  out.workload.sampling = Sampling::kRemove;  // each job once
  out.cluster.lookahead_cache = named<LookaheadCache>(
      member(recorded, "lookahead_cache").get<std::string>(), "lookahead_cache");
  out.workload.num_training_steps = to_int(member(c, "num_training_steps"));
  out.op_quantum = to_double(member(c, "min_op_run_time_quantum"));
  // Before their product is taken.
  if (const auto problems = validate(out.ramp); !problems.empty()) {
    throw UserError("config: " + problems.front());
  }
  const json& most = member(c, "max_partitions_per_op");
  out.max_partitions_per_op = most.is_null() ? num_servers(out.ramp.topology) : to_int(most);
  out.max_partitions_in_observation = to_int(member(c, "max_partitions_per_op_in_observation"));
  out.apply_action_mask = member(c, "apply_action_mask").get<bool>();
  return out;
}

json dependency_ends(const JobGraph& graph, int dependency) {
  const auto& d = graph.dependencies()[static_cast<std::size_t>(dependency)];
  const auto id = [&](OpIndex op) { return graph.ids()[static_cast<std::size_t>(op)]; };
  return {id(d.src), id(d.dst)};
}

json model_statistics(const JobGraph& g, int steps) {
  const auto id = [&](OpIndex op) {
    return op == kNoOp ? 0 : g.ids()[static_cast<std::size_t>(op)];
  };
  json sources = json::array();
  for (const OpIndex op : g.sources()) sources.push_back(id(op));
  return {{"num_ops", g.num_ops()},
          {"num_deps", g.dependencies().size()},
          {"job_sequential_completion_time", g.total_compute() * steps},
          {"job_total_op_memory_cost", g.total_memory()},
          {"job_total_dep_size", g.total_dependency_bytes()},
          {"max_compute_cost", g.max_compute().value},
          {"max_compute_node", id(g.max_compute().op)},
          {"max_memory_cost", g.max_memory().value},
          {"max_memory_node", id(g.max_memory().op)},
          {"max_node_throughput", g.max_throughput().value},
          {"max_throughput_node", id(g.max_throughput().op)},
          {"max_depth", g.max_depth().value},
          {"max_depth_node", id(g.max_depth().op)},
          {"max_dep_size", g.max_dependency_bytes()},
          {"max_dep_size_dep",
           g.max_dependency() < 0 ? json() : dependency_ends(g, g.max_dependency())},
          {"source_nodes", sources}};
}

json static_observation(const GraphFeatures& f) {
  json nodes = json::array();
  json edges = json::array();
  const auto rows = [](const std::vector<float>& values, int width, json& out) {
    for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(width)) {
      json row = json::array();
      for (int k = 0; k < width; ++k)
        row.push_back(shortest(values[i + static_cast<std::size_t>(k)]));
      out.push_back(std::move(row));
    }
  };
  rows(f.node_features, f.node_width, nodes);
  rows(f.edge_features, f.edge_width, edges);
  return {{"node_features", nodes},  {"edge_features", edges},    {"edges_src", f.edge_src},
          {"edges_dst", f.edge_dst}, {"node_split", f.num_nodes}, {"edge_split", f.num_edges}};
}

json pool_parameters(const PoolRanges& r) {
  json out;
  const auto put = [&](const char* name, const Range& range) {
    out[std::string("min_") + name] = number(range.min);
    out[std::string("max_") + name] = number(range.max);
  };
  put("job_sequential_completion_times", r.sequential_time);
  put("max_acceptable_job_completion_times", r.max_acceptable_time);
  put("max_acceptable_job_completion_time_fracs", r.fraction);
  put("job_total_op_memory_costs", r.total_memory);
  put("job_total_dep_sizes", r.total_dependency_bytes);
  put("job_total_num_ops", r.num_ops);
  put("job_total_num_deps", r.num_dependencies);
  put("job_num_training_steps", r.training_steps);
  put("job_max_op_compute_throughputs", r.op_throughput);
  put("job_max_dep_size", r.max_dependency_bytes);
  return out;
}

// A column of a trace's cluster step rows.
json step_column(const std::string& name, const ClusterStepStats& s) {
  static const std::map<std::string, Info> kInfos = {{"compute", Info::kCompute},
                                                     {"dep", Info::kDep},
                                                     {"flow", Info::kFlow},
                                                     {"cluster", Info::kCluster},
                                                     {"demand_compute", Info::kDemandCompute},
                                                     {"demand_dep", Info::kDemandDep},
                                                     {"demand_total", Info::kDemandTotal}};
  for (const auto& [prefix, info] : kInfos) {
    const auto i = static_cast<std::size_t>(info);
    if (name == prefix + "_info_processed") return s.info[i];
    if (name == "mean_" + prefix + "_throughput") return s.throughput[i];
  }
  if (name == "step_start_time") return s.start_time;
  if (name == "step_end_time") return s.end_time;
  if (name == "num_jobs_completed") return s.jobs_completed;
  if (name == "num_jobs_arrived") return s.jobs_arrived;
  if (name == "num_jobs_blocked") return s.jobs_blocked;
  if (name == "job_queue_length") return s.queue_length;
  if (name == "mean_num_jobs_running") return s.mean_jobs_running;
  if (name == "mean_num_mounted_workers") return s.mean_mounted_workers;
  if (name == "mean_num_mounted_channels") return s.mean_mounted_channels;
  if (name == "mean_compute_overhead_frac") return s.mean_compute_overhead;
  if (name == "mean_communication_overhead_frac") return s.mean_communication_overhead;
  if (name == "mean_mounted_worker_utilisation_frac") return s.mounted_utilisation;
  if (name == "mean_cluster_worker_utilisation_frac") return s.cluster_utilisation;
  throw UserError("cluster_step_columns: there is no column \"" + name + "\"");
}

// How a mounted job's dependencies lie and what they take; only traces ask for it.
struct FlowView {
  std::vector<Server> server;
  std::vector<double> raw;
  std::vector<std::size_t> flows;  // dependency indices
};

FlowView view_flows(const Execution& execution, const ExecutionMemo& memo) {
  FlowView view;
  view.server = server_of_ops(*execution.job, execution.placement);
  view.raw = raw_run_times(*execution.job, view.server, memo.topology(), memo.communication());
  for (std::size_t d = 0; d < view.raw.size(); ++d) {
    if (is_flow(*execution.job, view.server, d)) view.flows.push_back(d);
  }
  return view;
}

void write_mounted(const MountedJob& m, const Cluster& cluster, bool accepted, json& step) {
  const ExecutionMemo& memo = cluster.memo();
  const PartitionedGraph& job = *m.execution->job;
  const FlowView view = view_flows(*m.execution, memo);
  double sum = 0;
  double longest = 0;
  std::set<double> distinct;
  for (const std::size_t d : view.flows) {
    sum += view.raw[d];
    longest = std::max(longest, view.raw[d]);
    distinct.insert(view.raw[d]);
  }
  std::int64_t checksum = 0;
  for (std::size_t op = 0; op < view.server.size(); ++op) {
    checksum += static_cast<std::int64_t>(op + 1) * (view.server[op] + 1);
  }
  json servers = json::array();
  for (int s = 0; s < memo.topology().num_servers(); ++s) {
    if (m.execution->servers.contains(static_cast<Server>(s))) servers.push_back(s);
  }
  step["degree"] = job.degree();
  step["num_nodes"] = job.num_ops();
  step["num_edges"] = job.num_dependencies();
  step["num_flows"] = view.flows.size();
  step["flow_run_time_sum"] = sum;
  step["flow_run_time_max"] = longest;
  step["dep_size_sum"] = job.total_dependency_bytes();
  step["n_unique_flow_run_times"] = distinct.size();
  step["placement_checksum"] = checksum;
  step["lookahead_ran"] = m.lookahead_ran;
  step["jct"] = m.completion_time;
  step["communication_overhead_time"] =
      m.lookahead->communication_time * cluster.num_training_steps();
  step["computation_overhead_time"] = m.lookahead->computation_time * cluster.num_training_steps();
  step["num_lookahead_ticks"] = m.lookahead->ticks.size();
  step["max_acceptable_jct"] = m.max_acceptable_time;
  step["partitioned_job_sequential_completion_time"] = m.sequential_time;
  step["servers"] = std::move(servers);
  step["num_mounted_channels"] = m.execution->num_channels;
  if (accepted) {
    step["mean_mounted_worker_utilisation_frac"] = m.utilisation;
    step["job_total_flow_size"] = m.execution->flow_bytes;
  }
}

// Values as indices into a table in order of first appearance.
class Table {
 public:
  std::size_t index(double v) {
    const auto [it, is_new] = index_.try_emplace(v, values_.size());
    if (is_new) values_.push_back(v);
    return it->second;
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::map<double, std::size_t> index_;
  std::vector<double> values_;
};

// What the reference calls piece j: the j-th character from 'a' on, in UTF-8. Pre: j < 512.
std::string piece_letter(int j) {
  const int character = 'a' + j;
  constexpr int kOneByte = 0x80;
  if (character < kOneByte) return {static_cast<char>(character)};
  return {static_cast<char>(0xC0 | (character >> 6)), static_cast<char>(0x80 | (character & 0x3F))};
}

// What dump_partitioned computes.
constexpr std::array kDumped = {"node_id",        "compute_table", "compute",     "memory_table",
                                "memory",         "server",        "op_priority", "size_table",
                                "run_time_table", "edges",         "dep_priority"};

// A job that is not mounted as it was when it was recorded must not show what was recorded then.
void clear_dumps(json& document) {
  const auto dumps = document.find("partitioned");
  if (dumps == document.end()) return;
  for (json& dump : *dumps) {
    for (const char* key : kDumped) {
      if (dump.contains(key)) dump[key] = nullptr;
    }
  }
}

json dump_partitioned(const MountedJob& m, const ExecutionMemo& memo, const json& recorded) {
  const PartitionedGraph& job = *m.execution->job;
  const JobGraph& graph = job.graph();
  const FlowView view = view_flows(*m.execution, memo);
  const auto ops = static_cast<std::size_t>(job.num_ops());

  std::vector<std::string> names(ops);
  for (OpIndex f = 0; f < graph.num_forward(); ++f) {
    for (const auto& [original, base] : {std::pair{f, job.forward_piece(f)},
                                         std::pair{graph.counterpart(f), job.backward_piece(f)}}) {
      const auto id = std::to_string(graph.ids()[static_cast<std::size_t>(original)]);
      for (int j = 0; j < job.pieces(f); ++j) {
        const auto suffix = job.pieces(f) > 1 ? piece_letter(j) : "";
        names[static_cast<std::size_t>(base) + static_cast<std::size_t>(j)] = id + suffix;
      }
    }
  }
  std::vector<int> op_priority(ops);
  auto on_servers = ops_on_servers(job, m.execution->placement, memo.topology().num_servers());
  for (auto& list : on_servers) {
    std::stable_sort(list.begin(), list.end(), [&](OpIndex a, OpIndex b) {
      return job.compute()[static_cast<std::size_t>(a)] >
             job.compute()[static_cast<std::size_t>(b)];
    });
    for (std::size_t rank = 0; rank < list.size(); ++rank) {
      op_priority[static_cast<std::size_t>(list[rank])] = static_cast<int>(rank);
    }
  }

  Table compute;
  Table memory;
  Table size;
  Table run_time;
  json compute_index = json::array();
  json memory_index = json::array();
  for (std::size_t op = 0; op < ops; ++op) {
    compute_index.push_back(compute.index(job.compute()[op]));
    memory_index.push_back(memory.index(job.memory()[op]));
  }
  const std::size_t dependencies = view.raw.size();
  std::vector<bool> flow(dependencies, false);
  for (const std::size_t d : view.flows) flow[d] = true;
  json edges = json::array();
  for (std::size_t d = 0; d < dependencies; ++d) {
    edges.push_back({job.src()[d], job.dst()[d], size.index(job.bytes()[d]),
                     run_time.index(flow[d] ? view.raw[d] : 0.0)});
  }
  std::vector<std::size_t> order(dependencies);
  for (std::size_t d = 0; d < dependencies; ++d) order[d] = d;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (view.raw[a] != view.raw[b]) return view.raw[a] > view.raw[b];
    return mix64(a + kGoldenGamma) < mix64(b + kGoldenGamma);
  });
  std::vector<int> dep_priority(dependencies, -1);
  for (std::size_t rank = 0; rank < dependencies; ++rank) {
    if (flow[order[rank]]) dep_priority[order[rank]] = static_cast<int>(rank);
  }

  json out = recorded;
  out["node_id"] = names;
  out["compute_table"] = compute.values();
  out["compute"] = compute_index;
  out["memory_table"] = memory.values();
  out["memory"] = memory_index;
  out["server"] = view.server;
  out["op_priority"] = op_priority;
  out["size_table"] = size.values();
  out["run_time_table"] = run_time.values();
  out["edges"] = edges;
  if (recorded.contains("dep_priority")) out["dep_priority"] = dep_priority;
  return out;
}

// A replay in progress.
class Replay {
 public:
  Replay(const json& recorded, const std::string& profiles)
      : recorded_(recorded), config_(partitioning_config(recorded)) {
    for (const auto& row : member(recorded, "jobs")) {
      const auto model = row.at(0).get<std::string>();
      const RecordedJob job = {0, row.at(1).get<double>(), row.at(2).get<double>()};
      if (!(job.fraction > 0 && job.fraction <= 1)) {
        throw UserError("jobs: a fraction must be above 0 and up to 1, found " +
                        json_text(row.at(1)));
      }
      if (!jobs_.empty() && !(job.interarrival_before > 0)) {
        throw UserError("jobs: time between arrivals must be above 0, found " +
                        json_text(row.at(2)));
      }
      const auto [it, is_new] = model_index_.try_emplace(model, static_cast<int>(models_.size()));
      if (is_new) models_.push_back(model);
      jobs_.push_back(job);
      jobs_.back().model = it->second;
    }
    if (jobs_.empty()) throw UserError("the trace has no jobs");
    config_.workload.models = models_;
    task_ = std::make_shared<const PartitioningTask>(config_, load_profiles(profiles, models_));
    memos_ = task_->make_memos();
    for (const auto& [name, reward] : member(recorded, "rewards_config").items()) {
      rewards_.emplace_back(name, reward_config(name, reward));
    }
  }

  json run() {
    PartitioningEnv env(task_, memos_);
    env.keep_log(true);
    env.reset(JobStream::from_list(jobs_, static_cast<int>(models_.size())));
    json out = recorded_;
    clear_dumps(out);
    write_models(out);
    out["jobs_params"] = pool_parameters(env.ranges());
    out["steps"] = json::array();
    for (const auto& step : member(recorded_, "steps")) {
      if (env.cluster().finished() || !env.cluster().queued()) {
        throw UserError("steps: the episode is over after " + std::to_string(out["steps"].size()) +
                        " steps, but the trace goes on");
      }
      out["steps"].push_back(replay_step(env, step, out));
    }
    const bool has_statistics = out.contains("episode_stats") && !out["episode_stats"].is_null();
    if (has_statistics) out["episode_stats"] = episode_statistics(env.cluster());
    return out;
  }

 private:
  void write_models(json& out) const {
    const auto graphs = task_->graphs();
    out["models"] = json::object();
    for (const auto& graph : graphs) {
      out["models"][graph->model()] = model_statistics(*graph, config_.workload.num_training_steps);
    }
    if (!out.contains("obs_static")) return;
    for (auto& [model, observation] : out["obs_static"].items()) {
      const auto it = model_index_.find(model);
      if (it == model_index_.end()) throw UserError("obs_static: no job is of model " + model);
      observation =
          static_observation(*graphs[static_cast<std::size_t>(it->second)]->features(false));
    }
  }

  json replay_step(PartitioningEnv& env, const json& recorded, json& out) const {
    const Cluster& cluster = env.cluster();
    const ExecutionMemo& memo = *memos_->of(0);
    const Job job = *cluster.queued();
    json step = json::object();
    step["job"] = job.index;
    step["model"] = models_[static_cast<std::size_t>(job.model)];
    step["frac"] = job.fraction;
    step["arrival"] = job.arrived;
    step["time"] = cluster.now();
    std::string mask;
    for (const std::uint8_t valid : env.mask()) mask += valid != 0 ? '1' : '0';
    step["mask"] = mask;
    step["graph_features"] = json::array();
    for (std::size_t i = 0; i < 17; ++i)
      step["graph_features"].push_back(shortest(env.globals()[i]));

    const int action = to_int(member(recorded, "action"));
    if (action < 0 || action >= env.spec().num_actions()) {
      throw UserError("steps: there is no action " + std::to_string(action));
    }
    if (config_.apply_action_mask && env.mask()[static_cast<std::size_t>(action)] == 0) {
      throw UserError("steps: action " + std::to_string(action) + " of job " +
                      std::to_string(job.index) + " is masked");
    }
    step["action"] = action;
    const std::size_t first_row = cluster.log().steps.size();
    const StepResult result = env.step(action);

    const JobOutcome& outcome = env.last_outcome();
    const bool placed = outcome.cause == BlockCause::kNone;
    if (outcome.mounted) {
      write_mounted(*outcome.mounted, cluster, outcome.cause != BlockCause::kCompletionTime, step);
      if (recorded.contains("ticks")) {
        step["ticks"] = json::array();
        for (const auto& tick : outcome.mounted->lookahead->ticks) {
          step["ticks"].push_back({tick.active_ops, tick.length});
        }
      }
      write_dump(*outcome.mounted, out);
    }
    if (recorded.contains("jct_tie_spread")) step["jct_tie_spread"] = recorded["jct_tie_spread"];
    step["outcome"] = placed ? "placed" : "blocked";
    step["cause"] = placed ? json() : json(name_of(outcome.cause));
    for (const auto& [name, config] : rewards_) {
      step["rewards"][name] = number(reward(
          config, {job, outcome, env.last_stats(), env.ranges(), memo.topology().num_servers(),
                   memo.communication().channel_bandwidth(), config_.ramp.num_channels}));
    }
    write_aftermath(cluster, first_row, result, step);
    return step;
  }

  void write_dump(const MountedJob& m, json& out) const {
    const auto key = models_[static_cast<std::size_t>(m.job.model)] + "@" +
                     std::to_string(m.execution->job->degree());
    if (!out.contains("partitioned") || !out["partitioned"].contains(key)) return;
    json& dump = out["partitioned"][key];
    if (dump.at("job_idx") == m.job.index) dump = dump_partitioned(m, *memos_->of(0), dump);
  }

  void write_aftermath(const Cluster& cluster, std::size_t first_row, const StepResult& result,
                       json& step) const {
    std::vector<int> completed;
    std::vector<int> blocked;
    step["cluster_steps"] = json::array();
    for (std::size_t r = first_row; r < cluster.log().steps.size(); ++r) {
      const ClusterStepStats& stats = cluster.log().steps[r];
      json row = json::array();
      for (const auto& column : member(recorded_, "cluster_step_columns")) {
        row.push_back(step_column(column.get<std::string>(), stats));
      }
      step["cluster_steps"].push_back(std::move(row));
      completed.insert(completed.end(), stats.completed.begin(), stats.completed.end());
      blocked.insert(blocked.end(), stats.blocked.begin(), stats.blocked.end());
    }
    std::sort(completed.begin(), completed.end());
    std::sort(blocked.begin(), blocked.end());
    step["jobs_completed"] = completed;
    step["jobs_blocked"] = blocked;
    step["num_jobs_running"] = cluster.running().size();
    step["num_mounted_workers"] = cluster.mounted_workers();
    step["num_mounted_channels_cluster"] = cluster.mounted_channels();
    step["num_jobs_arrived"] = cluster.counters().arrived;
    step["queue_length"] = cluster.queued() ? 1 : 0;
    step["time_after"] = cluster.now();
    step["done"] = result.final();
  }

  const json& recorded_;
  PartitioningConfig config_;
  std::vector<std::string> models_;
  std::map<std::string, int> model_index_;
  std::vector<RecordedJob> jobs_;
  std::vector<std::pair<std::string, RewardConfig>> rewards_;
  std::shared_ptr<const PartitioningTask> task_;
  std::shared_ptr<RampMemos> memos_;  // of the one cluster
};

}  // namespace

json replay_trace(const json& recorded, const std::string& profiles, bool take_decisions) {
  try {
    const json& format = member(recorded, "format");
    if (format == "cluster-golden-1") return replay_gpu_cluster(recorded, take_decisions);
    if (take_decisions) {
      throw UserError("what was decided is always replayed, but for format cluster-golden-1");
    }
    if (format == "pacml-placement/1" || format == "pacml-placement-training/1") {
      return replay_placements(recorded);
    }
    if (format != "ramp-golden-1") {
      throw UserError(
          "the trace is of none of the formats ramp-golden-1, cluster-golden-1, pacml-placement/1 "
          "and pacml-placement-training/1");
    }
    return Replay(recorded, profiles).run();
  } catch (const json::exception& error) {
    throw UserError(std::string("the trace is malformed: ") + error.what());
  }
}

}  // namespace pacml::apps
