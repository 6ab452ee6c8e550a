#include "env/gpu_cluster/gpu_topology.h"

#include <map>
#include <vector>

#include "common/result.h"
#include "env/gpu_cluster/free_servers.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

using Servers = std::vector<std::int32_t>;

std::map<std::int32_t, double> links_of(const GpuTopology& topology, const Servers& servers,
                                        GpuComm comm) {
  std::vector<LinkWeight> links;
  topology.links(servers, comm, links);
  std::map<std::int32_t, double> weights;
  for (const LinkWeight& link : links) CHECK(weights.emplace(link.link, link.weight).second);
  return weights;
}

// Four racks of two servers of four GPUs, two racks a pod.
GpuTopology pods() {
  GpuTopologyConfig config;
  config.gpus_per_group = 1;
  config.groups_per_socket = 2;
  config.servers = 8;
  config.servers_per_rack = 2;
  config.racks_per_pod = 2;
  config.oversub_rack = 4;
  config.oversub_pod = 2;
  config.gpu_types = {{"slow", 6}, {"fast", 2}};
  return GpuTopology(config);
}

TEST_CASE("a job is as far apart as its first and its last GPU", "[unit][gpu_cluster]") {
  const GpuTopology t = pods();
  CHECK(t.level(5, 5) == GpuLevel::kGroup);
  CHECK(t.level(4, 5) == GpuLevel::kSocket);
  CHECK(t.level(5, 6) == GpuLevel::kServer);
  CHECK(t.level(3, 4) == GpuLevel::kRack);
  CHECK(t.level(7, 8) == GpuLevel::kPod);
  CHECK(t.level(15, 16) == GpuLevel::kCore);
  CHECK(t.gpu_types()[static_cast<std::size_t>(t.gpu_type_of(6))] == "fast");
}

TEST_CASE("a ring crosses an uplink once, parameter servers with all that they exchange",
          "[unit][gpu_cluster]") {
  const GpuTopology t = pods();
  CHECK(links_of(t, {3}, GpuComm::kRing).empty());
  CHECK(links_of(t, {2, 3}, GpuComm::kRing) == std::map<std::int32_t, double>{{2, 1}, {3, 1}});
  // Servers 0, 1, 2 and 4: racks 0 (two of them), 1 and 2 behind links 8, 9 and 10; pods 0 (three)
  // and 1 behind links 12 and 13. Of four, a exchange a (4 - a) / 3.
  CHECK(links_of(t, {0, 1, 2, 4}, GpuComm::kParameterServers) ==
        std::map<std::int32_t, double>{
            {0, 1}, {1, 1}, {2, 1}, {4, 1}, {8, 4.0 / 3}, {9, 1}, {10, 1}, {12, 1}, {13, 1}});
  CHECK(t.capacity(0) == 1);
  CHECK(t.capacity(8) == 0.5);   // 2 / 4
  CHECK(t.capacity(12) == 0.5);  // 0.5 * 2 / 2
}

TEST_CASE("on a torus a ring goes the shorter way round, and plus on a tie",
          "[unit][gpu_cluster]") {
  GpuTopologyConfig config;
  config.dims = {2, 4};
  config.gpu_types = {{"fast", 8}};
  const GpuTopology t(config);
  // From 0 to 3 it goes back one (link 0 * 4 + 3), from 3 to 0 forward one (3 * 4 + 2).
  CHECK(links_of(t, {0, 3}, GpuComm::kRing) == std::map<std::int32_t, double>{{3, 1}, {14, 1}});
  // 0 to 6 is a row (a tie, plus: link 0) and two columns (plus: 4 * 4 + 2, 5 * 4 + 2); back, a row
  // (6 * 4) and 2, 3 (2 * 4 + 2, 3 * 4 + 2).
  CHECK(links_of(t, {0, 6}, GpuComm::kRing) ==
        std::map<std::int32_t, double>{{0, 1}, {18, 1}, {22, 1}, {24, 1}, {10, 1}, {14, 1}});
}

TEST_CASE("a topology that cannot be is refused", "[unit][gpu_cluster]") {
  GpuTopologyConfig config;
  config.gpu_types = {{"fast", 15}};
  CHECK_THROWS_WITH(GpuTopology(config), Catch::Contains("of 15 servers, the cluster has 16"));
  config.gpu_types = {{"fast", 17}, {"slow", -1}};
  CHECK_THROWS_WITH(GpuTopology(config), Catch::Contains("gpu_types.servers"));
  config.dims = {1 << 20, 1 << 20};
  CHECK_THROWS_AS(GpuTopology(config), UserError);
}

TEST_CASE("the server to choose is found by what it has idle", "[unit][gpu_cluster]") {
  FreeServers free(100, 200, 4);
  CHECK(free.total() == 400);
  CHECK(free.first_fit(1) == 100);
  free.move(100, 4, 1);
  free.move(170, 4, 2);
  free.move(199, 4, 0);
  CHECK(free.total() == 391);
  CHECK(free.first_fit(1) == 100);
  CHECK(free.first_fit(2) == 101);
  CHECK(free.best_fit(1) == 100);
  CHECK(free.best_fit(2) == 170);
  CHECK(free.least_loaded(1) == 101);
  CHECK(free.best_fit(5) == -1);
  for (std::int32_t s = 101; s < 199; ++s) {
    if (s != 170) free.move(s, 4, 3);
  }
  CHECK(free.most() == 3);
  CHECK(free.least_loaded(4) == -1);
  CHECK(free.first_fit(4) == -1);
}

}  // namespace
}  // namespace pacml::env
