#include "env/ramp/communication.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "common/index.h"

namespace pacml::env {
namespace {

constexpr double kPeakFlops = 130e12;      // of the reduction at a server, FLOP/s
constexpr double kMemoryBandwidth = 2e12;  // of the reduction at a server, bytes/s

int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }
int ceil_div(int a, int b) { return (a + b - 1) / b; }

// Collects the servers of a group of dependencies; reused from group to group.
class SpanCounter {
 public:
  explicit SpanCounter(const Topology& topology)
      : topology_(topology), seen_(at(topology.num_servers()), 0) {}

  void insert(Server s) {
    if (seen_[s] != 0) return;
    seen_[s] = 1;
    members_.push_back(s);
  }
  // The span of what was inserted since the last call.
  CollectiveSpan take(bool count_contention) {
    std::uint64_t groups = 0;
    std::uint64_t racks = 0;
    std::uint64_t nodes = 0;
    CollectiveSpan span;
    span.servers = static_cast<int>(members_.size());
    span.groups = distinct([](const auto& c) { return c.group; }, groups);
    span.racks = distinct([](const auto& c) { return c.rack; }, racks);
    span.nodes = distinct([](const auto& c) { return c.server; }, nodes);
    if (count_contention) span.contending_racks = max_racks_sharing_a_transceiver();
    for (const Server s : members_) seen_[s] = 0;
    members_.clear();
    return span;
  }

 private:
  template <class Coordinate>
  int distinct(Coordinate coordinate, std::uint64_t& mask) {
    // Up to 64 values fit a mask; larger shapes take the slow road.
    values_.clear();
    for (const Server s : members_) {
      const int value = coordinate(topology_.coordinates(s));
      if (value < 64) {
        mask |= std::uint64_t{1} << value;
      } else {
        values_.push_back(value);
      }
    }
    std::sort(values_.begin(), values_.end());
    const auto end = std::unique(values_.begin(), values_.end());
    return std::popcount(mask) + static_cast<int>(end - values_.begin());
  }
  int max_racks_sharing_a_transceiver() {
    values_.clear();
    for (const Server s : members_) {
      const auto c = topology_.coordinates(s);
      values_.push_back(c.group * topology_.servers_per_rack() + c.server);
    }
    std::sort(values_.begin(), values_.end());
    int longest = 1;
    int run = 1;
    for (std::size_t i = 1; i < values_.size(); ++i) {
      run = values_[i] == values_[i - 1] ? run + 1 : 1;
      longest = std::max(longest, run);
    }
    return longest;
  }

  const Topology& topology_;
  std::vector<char> seen_;
  std::vector<Server> members_;
  std::vector<int> values_;
};

// True when the group's sources are, with multiplicity, the same servers as its destinations.
bool is_symmetric(std::span<const std::int32_t> group, const PartitionedGraph& job,
                  std::span<const Server> server, std::vector<int>& balance) {
  for (const std::int32_t d : group) {
    ++balance[server[at(job.src()[at(d)])]];
    --balance[server[at(job.dst()[at(d)])]];
  }
  bool symmetric = true;
  for (const std::int32_t d : group) {
    for (const OpIndex op : {job.src()[at(d)], job.dst()[at(d)]}) {
      symmetric = symmetric && balance[server[at(op)]] == 0;
      balance[server[at(op)]] = 0;
    }
  }
  return symmetric;
}

}  // namespace

Communication::Communication(const RampConfig& config, const SemanticSwitches& semantics)
    : groups_(config.topology[0]),
      latency_(config.propagation_latency + 2 * config.worker_io_latency),
      channel_bandwidth_(config.total_node_bandwidth / config.topology[0]),
      collective_rate_(semantics.collective_bandwidth_once
                           ? channel_bandwidth_
                           : channel_bandwidth_ / config.topology[0]),
      intra_rack_collectives_cost_(semantics.intra_rack_collectives_cost),
      rack_contention_(semantics.rack_contention) {}

double Communication::collective(double bytes, const CollectiveSpan& span) const {
  const int x = groups_;
  std::array<int, 4> subgroups = {span.groups, std::min(span.groups, span.nodes), span.racks,
                                  ceil_div(span.nodes, x)};
  const bool is_free =
      std::all_of(subgroups.begin(), subgroups.end(), [](int s) { return s == 1; });
  if (is_free && intra_rack_collectives_cost_) subgroups[0] = span.servers;
  double message = bytes;
  double communication = 0;
  double computation = 0;
  for (const int size : subgroups) {
    message = std::ceil(message / size);
    if (size <= 1) continue;
    const double steps = ceil_log2(size);
    const double intensity = steps / ((size + 1) * 2);
    computation +=
        steps * (message * size / size) / 2 / std::min(kMemoryBandwidth * intensity, kPeakFlops);
    const int transceivers =
        std::max(1, std::min(x / std::max(1, span.contending_racks), x / (size - 1)));
    communication += latency_ + message / (transceivers * collective_rate_);
  }
  return 2 * communication + computation;
}

std::vector<double> raw_run_times(const PartitionedGraph& job, std::span<const Server> server,
                                  const Topology& topology, const NetworkCosts& network) {
  using Kind = PartitionedGraph::GroupKind;
  std::vector<double> time(at(job.num_dependencies()), 0.0);
  std::vector<std::span<const std::int32_t>> one_to_one;
  std::vector<int> balance(at(topology.num_servers()), 0);
  SpanCounter servers(topology);
  const auto src = job.src();
  const auto dst = job.dst();
  const auto collective_time = [&](std::span<const std::int32_t> group) {
    double bytes = 0;
    for (const std::int32_t d : group) {
      servers.insert(server[at(src[at(d)])]);
      servers.insert(server[at(dst[at(d)])]);
      bytes += job.bytes()[at(d)];
    }
    const CollectiveSpan span = servers.take(network.counts_contention());
    return span.servers <= 1 ? 0.0 : network.collective(bytes, span);
  };
  for (const auto& group : job.groups()) {
    switch (group.kind) {
      case Kind::kOneToOne:
        one_to_one.push_back(group.dependencies);
        break;
      case Kind::kCollective: {
        if (!is_symmetric(group.dependencies, job, server, balance)) {
          one_to_one.push_back(group.dependencies);
          break;
        }
        const double t = collective_time(group.dependencies);
        for (const std::int32_t d : group.dependencies) time[at(d)] = t;
        break;
      }
      case Kind::kSyncPairs:
        for (std::size_t i = 0; i < group.dependencies.size(); i += 2) {
          const auto pair = group.dependencies.subspan(i, 2);
          const double t = collective_time(pair);
          time[at(pair[0])] = t;
          time[at(pair[1])] = t;
        }
        break;
    }
  }
  // After all collectives: a dependency that belongs to both kinds (the join) takes this time.
  for (const auto group : one_to_one) {
    for (const std::int32_t d : group) {
      const bool local = server[at(src[at(d)])] == server[at(dst[at(d)])];
      time[at(d)] = local ? 0.0 : network.one_to_one(job.bytes()[at(d)]);
    }
  }
  return time;
}

}  // namespace pacml::env
