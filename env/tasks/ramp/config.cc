#include "env/tasks/ramp/config.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "common/text.h"
#include "env/workload/arrival_process.h"

namespace pacml::env {
namespace {

double time_scale_of(TimeUnit unit) { return unit == TimeUnit::kPaper ? 1.0 : 1e-3; }

std::vector<std::string> switch_names() {
  std::vector<std::string> names;
  SemanticSwitches switches;
  visit_fields(switches, [&](std::string_view name, bool&) { names.emplace_back(name); });
  return names;
}

// Of relative_size(), of those that can be.
double greatest_size(const RampTaskConfig& c) {
  double greatest = 1;
  for (const auto& topology : c.further_topologies) {
    if (!validate(ramp_of(c, topology)).empty()) continue;
    greatest = std::max(greatest, relative_size(c, topology));
  }
  return greatest;
}

void check_topologies(const RampTaskConfig& c, std::vector<std::string>& problems) {
  // What is wrong with the first is said of ramp.
  if (!validate(c.ramp).empty()) return;
  std::set<std::array<int, 3>> seen = {c.ramp.topology};
  for (std::size_t i = 0; i < c.further_topologies.size(); ++i) {
    const auto& topology = c.further_topologies[i];
    const auto say = [&](const std::string& what) {
      problems.push_back("further_topologies[" + std::to_string(i) + "]: " + what);
    };
    if (const auto wrong = validate(ramp_of(c, topology)); !wrong.empty()) {
      say(wrong.front());
      continue;
    }
    if (!seen.insert(topology).second) say("there is a cluster of that topology already");
    const double size = relative_size(c, topology);
    if (size < kLeastLoad || size > kMostLoad) {
      say("must have 0.01 to 100 times the servers of ramp.topology");
    } else if (std::ranges::any_of(c.workload.loads, [size](double load) {
                 return load * size < kLeastLoad || load * size > kMostLoad;
               })) {
      say("with workload.loads, arrivals must be 0.01 to 100 times those of ramp.topology at load "
          "1");
    }
  }
}

}  // namespace

// An episode must come to an end, and in a time that somebody waits for.
void check_episode(const RampTaskConfig& c, std::size_t num_models,
                   std::vector<std::string>& problems) {
  if (!c.workload.recorded.file.empty()) return;  // its jobs are known when the task is made
  const auto& interarrival = c.workload.interarrival;
  if (!validate(c.cluster).empty() || !validate(interarrival).empty()) return;
  if (!arrival_problems(interarrival).empty()) return;  // the workload says so itself
  double most = greatest_load(c.workload);
  if (validate(c.ramp).empty()) most *= greatest_size(c);
  const double between = ArrivalProcess(interarrival).mean() / most;
  double arrivals = c.cluster.max_simulation_time / between;
  if (c.workload.sampling == Sampling::kRemove) {
    arrivals = std::min(arrivals, static_cast<double>(num_models) * c.workload.replication_factor);
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

std::vector<std::array<int, 3>> topologies(const RampTaskConfig& config) {
  std::vector<std::array<int, 3>> all = {config.ramp.topology};
  all.insert(all.end(), config.further_topologies.begin(), config.further_topologies.end());
  return all;
}

RampConfig ramp_of(const RampTaskConfig& config, const std::array<int, 3>& topology) {
  RampConfig ramp = config.ramp;
  ramp.topology = topology;
  return ramp;
}

double relative_size(const RampTaskConfig& config, const std::array<int, 3>& topology) {
  return static_cast<double>(num_servers(topology)) / num_servers(config.ramp.topology);
}

std::vector<std::string> validate_ramp(const RampTaskConfig& c) {
  std::vector<std::string> problems;
  if (!(c.op_quantum > 0 && c.op_quantum <= 1e15)) {
    problems.emplace_back("op_quantum: must be > 0 and at most 1e15");
  }
  if (c.max_partitions_per_op < 1 || c.max_partitions_per_op > 512) {
    problems.emplace_back("max_partitions_per_op: must be in 1..512");
  } else if (c.max_partitions_per_op > 1 && c.max_partitions_per_op % 2 != 0) {
    problems.emplace_back("max_partitions_per_op: must be 1 or even, as every op is cut in pairs");
  }
  if (c.recent_arrivals < 0 || c.recent_arrivals > 10'000) {
    problems.emplace_back("recent_arrivals: must be in 0..10000");
  }
  if (c.max_partitions_in_observation < 1) {
    problems.emplace_back("max_partitions_in_observation: must be at least 1");
  }
  check_topologies(c, problems);
  // Without a list all that there are are used, which RampTask knows.
  check_episode(c, std::max<std::size_t>(1, c.workload.models.size()), problems);
  const auto names = switch_names();
  for (const auto& [name, value] : c.semantic_overrides) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    problems.push_back("semantic_overrides: there is no switch \"" + name + "\"" +
                       did_you_mean(name, names));
  }
  return problems;
}

SemanticSwitches switches_of(const RampTaskConfig& c) {
  SemanticSwitches switches = preset(c.semantics);
  visit_fields(switches, [&](std::string_view name, bool& value) {
    if (const auto it = c.semantic_overrides.find(std::string(name));
        it != c.semantic_overrides.end()) {
      value = it->second;
    }
  });
  return switches;
}

ExecutionMemo::Setting memo_setting(const RampTaskConfig& config,
                                    const std::array<int, 3>& topology) {
  ExecutionMemo::Setting setting;
  setting.ramp = ramp_of(config, topology);
  setting.semantics = switches_of(config);
  setting.time_scale = time_scale_of(config.time_unit);
  setting.op_quantum = config.op_quantum;
  setting.max_degree = config.max_partitions_per_op;
  return setting;
}

}  // namespace pacml::env
