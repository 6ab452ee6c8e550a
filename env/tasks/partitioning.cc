#include "env/tasks/partitioning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "common/check.h"
#include "common/result.h"
#include "common/text.h"
#include "env/tasks/cluster_observation.h"

namespace pacml::env {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The published features. What is normalised lies in 0..1 but where the published ranges are not
// those of the pool (env/tasks/pool_ranges.h).
const std::array<FeatureSpec, 17> kPaperGlobals = {{
    {"num_ops", "share of the range", -kInfinite},
    {"num_dependencies", "share of the range", -kInfinite},
    {"sequential_time", "share of the range", -kInfinite},
    {"max_acceptable_time", "share of the range", -kInfinite},
    {"max_acceptable_fraction", "share of the range", -kInfinite},
    {"max_acceptable_fraction_raw", "sequential time"},
    {"total_memory", "share of the range", -kInfinite},
    {"total_dependency_bytes", "share of the range", -kInfinite},
    {"training_steps", "share of the range", -kInfinite},
    {"compute_mean", "graph's largest"},
    {"compute_median", "graph's largest"},
    {"memory_mean", "graph's largest"},
    {"memory_median", "graph's largest"},
    {"bytes_mean", "graph's largest"},
    {"bytes_median", "graph's largest"},
    {"servers_in_use", "share of the servers", 0, 1},
    {"jobs_running", "share of the servers", 0, 1},
}};
// Values below the normalisation's lower end are lifted by this, as published.
constexpr double kMachineEpsilon = 1e-7;

double time_scale_of(TimeUnit unit) { return unit == TimeUnit::kPaper ? 1.0 : 1e-3; }

std::vector<std::string> switch_names() {
  std::vector<std::string> names;
  SemanticSwitches switches;
  visit_fields(switches, [&](std::string_view name, bool&) { names.emplace_back(name); });
  return names;
}

// Jobs that an episode may be expected to have: a thousand times the published setting's. One takes
// seconds to simulate then, and its log hundreds of megabytes.
constexpr double kMostArrivals = 1e6;

// Of a cluster that is shown server by server: blocks of servers grow with them.
constexpr int kMostServersShown = 1024;

// Of what is derived from a configuration and kept, in each thread that simulates.
constexpr std::size_t kMostLastingBytes = std::size_t{2} << 30;

// The number of dependencies grows with the square of the degree.
void check_bytes(std::span<const JobGraphPtr> graphs, ExecutionMemo::Setting setting) {
  const auto bytes = ExecutionMemo::lasting_bytes(graphs, setting);
  if (bytes <= kMostLastingBytes) return;
  const int asked = setting.max_degree;
  while (setting.max_degree > 2 &&
         ExecutionMemo::lasting_bytes(graphs, setting) > kMostLastingBytes) {
    setting.max_degree -= 2;
  }
  const auto gib = [](std::size_t n) { return std::to_string((n >> 30) + 1) + " GiB"; };
  throw UserError("env.max_partitions_per_op: the job graphs cut at every degree up to " +
                  std::to_string(asked) + " take " + gib(bytes) +
                  " in every thread, more than 2 GiB; " + std::to_string(setting.max_degree) +
                  " is the most for these models on this cluster (env.op_quantum bounds it, too)");
}

// An episode must come to an end, and in a time that somebody waits for.
void check_episode(const PartitioningConfig& c, std::vector<std::string>& problems) {
  const auto& interarrival = c.workload.interarrival;
  if (!validate(c.cluster).empty() || !validate(interarrival).empty()) return;
  const double between = make_distribution(interarrival).mean();
  if (!(between > 0)) return;  // the workload says so itself
  double arrivals = c.cluster.max_simulation_time / between;
  if (c.workload.sampling == Sampling::kRemove) {
    const auto models = static_cast<double>(std::max<std::size_t>(1, c.workload.models.size()));
    arrivals = std::min(arrivals, models * c.workload.replication_factor);
  } else if (std::isinf(arrivals)) {
    problems.push_back("cluster.max_simulation_time: .inf makes an episode without end, since " +
                       std::string(pacml::name_of(c.workload.sampling)) +
                       " (workload.sampling) never runs out of jobs");
    return;
  }
  if (arrivals <= kMostArrivals) return;
  std::ostringstream sentence;
  sentence << "cluster.max_simulation_time: an episode of " << c.cluster.max_simulation_time
           << " with a job every " << between << " (workload.interarrival) has " << arrivals
           << " jobs, more than " << kMostArrivals;
  problems.push_back(sentence.str());
}

}  // namespace

ObservationSpec observation_spec(const PartitioningConfig& c) {
  ObservationSpec spec;
  spec.slots = {{.name = "job", .node_width = 5, .edge_width = 2}};
  spec.candidates.most = static_cast<std::uint32_t>(c.max_partitions_per_op + 1);
  if (c.observation == ObservationKind::kPaper) {
    spec.globals.assign(kPaperGlobals.begin(), kPaperGlobals.end());
  } else {
    spec.globals = cluster_globals(c.ramp.topology);
    spec.candidates.derived = true;
  }
  return spec;
}

std::vector<std::string> validate(const PartitioningConfig& c) {
  std::vector<std::string> problems;
  if (!(c.op_quantum > 0 && c.op_quantum <= 1e15)) {
    problems.emplace_back("op_quantum: must be > 0 and at most 1e15");
  }
  if (c.max_partitions_per_op < 1 || c.max_partitions_per_op > 512) {
    problems.emplace_back("max_partitions_per_op: must be in 1..512");
  } else if (c.max_partitions_per_op > 1 && c.max_partitions_per_op % 2 != 0) {
    problems.emplace_back("max_partitions_per_op: must be 1 or even, as every op is cut in pairs");
  }
  if (c.max_partitions_in_observation < 1) {
    problems.emplace_back("max_partitions_in_observation: must be at least 1");
  }
  const auto& t = c.ramp.topology;
  if (c.observation == ObservationKind::kCluster && validate(c.ramp).empty() &&
      t[0] * t[1] * t[2] > kMostServersShown) {
    problems.push_back(
        "observation: cluster describes at most " + std::to_string(kMostServersShown) +
        " servers one by one, and ramp.topology has " + std::to_string(t[0] * t[1] * t[2]));
  }
  if (c.observation == ObservationKind::kCluster &&
      c.cluster.lookahead_cache == LookaheadCache::kModelDegree) {
    problems.emplace_back(
        "observation: cluster shows how long a job would run where it would be placed, which with "
        "cluster.lookahead_cache: model_degree depends on the episode's past; set it to placement");
  }
  check_episode(c, problems);
  const auto names = switch_names();
  for (const auto& [name, value] : c.semantic_overrides) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    problems.push_back("semantic_overrides: there is no switch \"" + name + "\"" +
                       did_you_mean(name, names));
  }
  return problems;
}

SemanticSwitches switches_of(const PartitioningConfig& c) {
  SemanticSwitches switches = preset(c.semantics);
  visit_fields(switches, [&](std::string_view name, bool& value) {
    if (const auto it = c.semantic_overrides.find(std::string(name));
        it != c.semantic_overrides.end()) {
      value = it->second;
    }
  });
  return switches;
}

PartitioningWorld::PartitioningWorld(const PartitioningConfig& config,
                                     const std::vector<Profile>& profiles)
    : config_(config) {
  for (const auto& problems : {validate(config), validate(config.ramp), validate(config.cluster),
                               validate(config.reward)}) {
    if (!problems.empty()) throw UserError(problems.front());
  }
  const SemanticSwitches semantics = switches_of(config);
  std::vector<JobGraphPtr> graphs;
  for (const auto& profile : profiles) graphs.push_back(std::make_shared<const JobGraph>(profile));
  if (config.reward.kind == RewardKind::kMultiObjectiveJctBlocking &&
      std::all_of(graphs.begin(), graphs.end(), [&](const JobGraphPtr& graph) {
        return graph->total_compute() == graphs.front()->total_compute();
      })) {
    throw UserError(
        "reward: multi_objective_jct_blocking needs models of different sequential times");
  }
  plan_ = std::make_shared<const WorkloadPlan>(config.workload, static_cast<int>(graphs.size()));
  spec_.task = "partitioning";
  spec_.observation = observation_spec(config);
  for (const auto& graph : graphs) {
    spec_.graphs.push_back(graph->features(semantics.mark_max_compute));
  }
  ExecutionMemo::Setting setting;
  setting.ramp = config.ramp;
  setting.semantics = semantics;
  setting.time_scale = time_scale_of(config.time_unit);
  setting.op_quantum = config.op_quantum;
  setting.max_degree = config.max_partitions_per_op;
  check_bytes(graphs, setting);
  if (config.observation == ObservationKind::kCluster) {
    slot_ = plan_->interarrival().mean();
    spec_.candidate_view = make_cluster_view(
        {graphs, spec_.graph_hashes(), setting, config.workload.num_training_steps, slot_});
  }
  memo_ = std::make_shared<ExecutionMemo>(std::move(graphs), setting);
}

PoolRanges PartitioningWorld::ranges(std::span<const ModelFractions> fractions) const {
  return make_pool_ranges(memo_->graphs(), fractions,
                          {memo_->setting().time_scale, config_.workload.num_training_steps,
                           config_.max_partitions_in_observation,
                           memo_->setting().semantics.normalise_dependencies_by_pool});
}

PartitioningEnv::PartitioningEnv(std::shared_ptr<const PartitioningWorld> world)
    : world_(std::move(world)),
      cluster_(world_->memo(), world_->config().cluster,
               world_->config().workload.num_training_steps),
      globals_(static_cast<std::size_t>(world_->spec().num_globals())),
      mask_(static_cast<std::size_t>(world_->spec().num_actions())),
      shown_mask_(mask_.size()) {}

void PartitioningEnv::reset(Seed seed) { reset(JobStream(world_->plan(), seed)); }

void PartitioningEnv::reset(JobStream jobs) {
  ranges_ = world_->ranges(jobs.statistics());
  cluster_.reset(std::move(jobs), keep_log_);
  return_ = 0;
  decisions_ = 0;
  refresh_observation();
}

StepResult PartitioningEnv::step(int action) {
  PACML_CHECK(cluster_.queued().has_value() && !cluster_.finished(), "the episode is over");
  PACML_CHECK(action >= 0 && action < spec().num_actions(), "no such action");
  if (mask_[static_cast<std::size_t>(action)] == 0) {
    PACML_CHECK(!world_->config().apply_action_mask, "the action is masked");
    action = 0;
  }
  last_job_ = *cluster_.queued();
  last_decision_ = cluster_.decide(action, stats_);
  const auto& ramp = world_->config().ramp;
  const double value =
      reward(world_->config().reward,
             {last_job_, last_decision_, stats_, ranges_, world_->memo()->topology().num_servers(),
              world_->memo()->communication().channel_bandwidth(), ramp.num_channels});
  while (!cluster_.queued() && !cluster_.finished()) cluster_.wait(waiting_stats_);

  StepResult result;
  result.reward = static_cast<float>(value);
  // Nobody could learn from it; peers would take the message for a damaged one.
  if (!std::isfinite(result.reward)) {
    throw UserError("env.reward: " + std::string(pacml::name_of(world_->config().reward.kind)) +
                    " gives a job of model " +
                    world_->memo()->graphs()[static_cast<std::size_t>(last_job_.model)]->model() +
                    " a reward that is not finite");
  }
  return_ += value;
  ++decisions_;
  if (cluster_.finished()) {
    const bool out_of_time = cluster_.now() >= world_->config().cluster.max_simulation_time;
    result.truncated = out_of_time && world_->config().time_limit == TimeLimit::kTruncated;
    result.terminated = !result.truncated;
    if (result.truncated) observe_beyond_limit();
  } else {
    refresh_observation();
  }
  return result;
}

void PartitioningEnv::refresh_observation() {
  graph_ = static_cast<std::uint16_t>(cluster_.queued()->model);
  write_mask();
  if (world_->config().observation == ObservationKind::kPaper) {
    write_globals();
    shown_mask_ = mask_;
  } else {
    write_cluster_globals(cluster_, world_->slot(), globals_);
    write_cluster_mask(cluster_, mask_, shown_mask_);
  }
}

void PartitioningEnv::observe_beyond_limit() {
  Cluster beyond = cluster_.beyond_limit();
  if (!beyond.queued()) return;
  std::swap(cluster_, beyond);
  refresh_observation();
  std::swap(cluster_, beyond);
}

void PartitioningEnv::write_mask() {
  const Topology& topology = world_->memo()->topology();
  const int free = topology.num_servers() - cluster_.mounted_workers();
  mask_[0] = 1;
  for (int a = 1; a < spec().num_actions(); ++a) {
    const bool valid = a <= free && (a == 1 || (a % 2 == 0 && topology.has_block_shape(a)));
    mask_[static_cast<std::size_t>(a)] = valid ? 1 : 0;
  }
}

void PartitioningEnv::write_globals() {
  const Job& job = *cluster_.queued();
  const JobGraph& graph = *world_->memo()->graphs()[static_cast<std::size_t>(job.model)];
  const auto& moments = graph.moments();
  const double servers = world_->memo()->topology().num_servers();
  const std::array<double, kPaperGlobals.size()> features = {
      ranges_.num_ops.normalise(graph.num_ops()),
      ranges_.num_dependencies.normalise(static_cast<double>(graph.dependencies().size())),
      ranges_.sequential_time.normalise(job.sequential_time),
      ranges_.max_acceptable_time.normalise(job.max_acceptable_time),
      ranges_.fraction.normalise(job.fraction),
      job.fraction,
      ranges_.total_memory.normalise(graph.total_memory()),
      ranges_.total_dependency_bytes.normalise(graph.total_dependency_bytes()),
      ranges_.training_steps.normalise(cluster_.num_training_steps()),
      moments.compute_mean,
      moments.compute_median,
      moments.memory_mean,
      moments.memory_median,
      moments.bytes_mean,
      moments.bytes_median,
      cluster_.mounted_workers() / servers,
      static_cast<double>(cluster_.running().size()) / servers};
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double lifted = features[i] < 0 ? features[i] + kMachineEpsilon : features[i];
    globals_[i] = static_cast<float>(lifted);
  }
}

void PartitioningEnv::observe(Observations& out) const {
  const ObservationRow row = out.append();
  PACML_CHECK(row.graph.size() == 1 && row.globals.size() == globals_.size() &&
                  row.mask.size() == shown_mask_.size(),
              "a store of another shape than the spec's");
  row.graph[0] = graph_;
  std::copy(globals_.begin(), globals_.end(), row.globals.begin());
  std::copy(shown_mask_.begin(), shown_mask_.end(), row.mask.begin());
}

std::unique_ptr<Environment> PartitioningEnv::clone() const {
  return std::make_unique<PartitioningEnv>(*this);
}

EpisodeSummary PartitioningEnv::summary() const {
  const ClusterCounters& c = cluster_.counters();
  EpisodeSummary s;
  s.episode_return = return_;
  s.decisions = decisions_;
  s.arrived = c.arrived;
  s.completed = c.completed;
  s.blocked = c.blocked;
  s.blocking_rate = c.arrived > 0 ? static_cast<double>(c.blocked) / c.arrived : 0;
  return s;
}

}  // namespace pacml::env
