#include "tests/property/env_gpu_cluster/random_cluster.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pacml::env {
namespace {

int draw(Rng& rng, int from, int to) {
  return from + static_cast<int>(rng.below(static_cast<std::uint64_t>(to - from + 1)));
}

bool flip(Rng& rng) { return rng.below(2) == 0; }

GpuTopologyConfig draw_topology(Rng& rng) {
  GpuTopologyConfig c;
  c.gpus_per_group = draw(rng, 1, 3);
  c.groups_per_socket = draw(rng, 1, 2);
  c.sockets = draw(rng, 1, 2);
  c.servers = draw(rng, 2, 9);
  if (rng.below(4) == 0) {
    c.dims = {draw(rng, 1, 3), draw(rng, 2, 4)};
    c.servers = static_cast<int>(c.dims[0] * c.dims[1]);
  } else {
    c.servers_per_rack = draw(rng, 1, 3);
    c.racks_per_pod = draw(rng, 0, 2);
  }
  c.oversub_rack = 1 + rng.uniform() * 3;
  c.oversub_pod = 1 + rng.uniform() * 3;
  const int slow = draw(rng, 0, c.servers - 1);
  c.gpu_types.clear();
  if (slow > 0) c.gpu_types.push_back({"slow", slow});
  c.gpu_types.push_back({"fast", c.servers - slow});
  return c;
}

GpuSpeedTables draw_tables(Rng& rng) {
  GpuSpeedTables tables;
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (const std::string& name : names) {
    GpuJobType& type = tables.types[name];
    type.host_load = rng.below(3) == 0 ? 0 : rng.uniform();
    for (const char* gpu_type : {"fast", "slow"}) {
      const double one = std::exp(3 * rng.uniform());
      for (int n = 1; n <= 24; ++n) {
        type.speeds[gpu_type][n] = {one * std::pow(n, 0.9), one * std::pow(n, 0.5)};
      }
      for (const std::string& other : names) {
        if (rng.below(8) > 0) tables.pairs[gpu_type][name][other] = 0.3 + 0.7 * rng.uniform();
      }
    }
  }
  return tables;
}

GpuRulesConfig draw_rules(Rng& rng) {
  GpuRulesConfig c;
  c.order = static_cast<ScheduleOrder>(rng.below(6));
  c.place = static_cast<PlacementRule>(rng.below(7));
  c.strict = flip(rng);
  c.window = flip(rng) ? 0 : draw(rng, 1, 8);
  if (rng.below(4) == 0) c.max_cost = rng.uniform();
  c.eps = rng.uniform() * 2;
  c.preempt = rng.below(5) == 0;
  c.seed = rng.next();
  c.candidates.spread = flip(rng);
  c.candidates.always_spread = rng.below(3) == 0;
  c.candidates.share = static_cast<SharingRule>(rng.below(3));
  if (flip(rng)) c.candidates.gain = 1 + rng.uniform() * 0.5;
  return c;
}

}  // namespace

RandomCluster draw_cluster(Rng& rng) {
  RandomCluster out;
  out.config.topology = draw_topology(rng);
  out.config.share = draw(rng, 1, 2);
  out.config.host_cap = 0.2 + rng.uniform();
  out.config.partitions = draw(rng, 1, 3);
  if (out.config.partitions > out.config.topology.servers) out.config.partitions = 1;
  out.config.route = flip(rng) ? JobRoute::kHome : JobRoute::kLeastLoaded;
  if (flip(rng)) out.config.round_s = 5 + 20 * rng.uniform();
  if (flip(rng)) out.config.restart_cost_s = 10 * rng.uniform();
  out.tables = draw_tables(rng);
  out.rules = draw_rules(rng);
  const GpuTopologyConfig& t = out.config.topology;
  const int per_server = t.gpus_per_group * t.groups_per_socket * t.sockets;
  // What a partition always has room for: nobody waits for ever.
  const int most = std::min(24, t.servers / out.config.partitions * per_server);
  const bool is_whole = flip(rng);  // much happens at one time
  double time = 0;
  for (int i = draw(rng, 1, 30); i > 0; --i) {
    GpuJobSpec job;
    time += is_whole ? static_cast<double>(rng.below(3)) : 10 * rng.uniform();
    job.submit_s = rng.below(8) == 0 ? 0 : time;
    job.type = std::string(1, "abcd"[rng.below(4)]);
    job.gpus = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most)));
    if (flip(rng)) job.gpus = std::min(job.gpus, 2);
    job.steps = is_whole ? static_cast<double>(10 * draw(rng, 1, 20)) : 1 + 500 * rng.uniform();
    job.user = "u" + std::to_string(rng.below(4));
    job.comm = flip(rng) ? GpuComm::kRing : GpuComm::kParameterServers;
    out.jobs.push_back(std::move(job));
  }
  return out;
}

}  // namespace pacml::env
