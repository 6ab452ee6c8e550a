#pragma once

#include "env/tasks/cluster_scheduling/config.h"

namespace pacml::testing {

// Two schedulers with a server of two GPUs each, whose jobs do not slow each other down on their
// hosts.
inline env::ClusterSchedulingConfig two_servers() {
  env::ClusterSchedulingConfig c;
  c.cluster.topology = {.gpus_per_group = 2,
                        .sockets = 1,
                        .servers = 2,
                        .servers_per_rack = 1,
                        .gpu_types = {{"v100", 2}}};
  c.cluster.host_cap = 1e6;
  c.cluster.partitions = 2;
  c.jobs.largest_gpus = 2;
  return c;
}

}  // namespace pacml::testing
