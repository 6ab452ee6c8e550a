#include "env/placement/min_cut.h"

#include <metis.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/index.h"

namespace pacml::env {
namespace {

constexpr double kMostWeight = 1 << 28;  // of all together, so that sums fit METIS' 32 bits
constexpr idx_t kSeed = 1;
constexpr idx_t kUnevenness = 50;  // thousandths that a piece may have over its share

std::int32_t as_weight(double value, double all) {
  return static_cast<std::int32_t>(all > kMostWeight ? value * (kMostWeight / all) : value);
}

// Groups, their work, and what goes between any two in either direction.
class CutGraph {
 public:
  explicit CutGraph(const PlacementProblem& problem) : neighbours_(problem.num_groups()) {
    const auto attributes = problem.groups->attributes();
    const double work = problem.graph->total_cost_us();
    for (const GroupAttributes& group : attributes) {
      // No piece can have a share of no work.
      work_.push_back(std::max(as_weight(group.cost_us, work), 1));
    }
    connect(problem);
  }

  [[nodiscard]] std::size_t size() const { return work_.size(); }

  // In which half each of `groups` goes, where the first is to have `share` of their work.
  [[nodiscard]] std::vector<idx_t> halves(std::span<const std::int32_t> groups,
                                          double share) const {
    std::vector<std::int32_t> place(size(), -1);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      place[at(groups[i])] = static_cast<std::int32_t>(i);
    }
    std::vector<idx_t> first{0};
    std::vector<idx_t> other;
    std::vector<idx_t> bytes;
    std::vector<idx_t> work;
    for (const std::int32_t g : groups) {
      work.push_back(work_[at(g)]);
      for (const auto& [neighbour, weight] : neighbours_[at(g)]) {
        if (place[at(neighbour)] < 0) continue;
        other.push_back(place[at(neighbour)]);
        bytes.push_back(weight);
      }
      first.push_back(static_cast<idx_t>(other.size()));
    }
    return bisect(first, other, bytes, work, share);
  }

 private:
  // An output goes to a group once, however many of its operations read it.
  void connect(const PlacementProblem& problem) {
    const OpGraph& graph = *problem.graph;
    const OpFlows& flows = graph.flows(problem.devices->semantics());
    std::map<std::pair<std::int32_t, std::int32_t>, double> between;  // the lower one first
    std::map<std::pair<std::int32_t, std::int32_t>, bool> has_sent;   // output, group
    double all = 0;
    for (std::size_t v = 0; v < graph.num_ops(); ++v) {
      const std::int32_t from = graph.group_of()[v];
      const auto consumers = flows.consumers[v];
      const auto outputs = flows.outputs[v];
      for (std::size_t i = 0; i < consumers.size(); ++i) {
        const std::int32_t to = graph.group_of()[at(consumers[i])];
        if (to == from || std::exchange(has_sent[{outputs[i], to}], true)) continue;
        const double bytes = graph.output_bytes()[at(outputs[i])];
        between[std::minmax(from, to)] += bytes;
        all += bytes;
      }
    }
    for (const auto& [pair, bytes] : between) {
      const std::int32_t weight = std::max(as_weight(bytes, all), 1);
      neighbours_[at(pair.first)].emplace_back(pair.second, weight);
      neighbours_[at(pair.second)].emplace_back(pair.first, weight);
    }
  }

  [[nodiscard]] static std::vector<idx_t> bisect(std::vector<idx_t>& first,
                                                 std::vector<idx_t>& other,
                                                 std::vector<idx_t>& bytes,
                                                 std::vector<idx_t>& work, double share) {
    // Its random numbers and its handlers of signals are the process's.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    auto nodes = static_cast<idx_t>(work.size());
    idx_t constraints = 1;
    idx_t parts = 2;
    // METIS takes no part that is to get nothing.
    constexpr double kLeast = 1e-6;
    share = std::clamp(share, kLeast, 1 - kLeast);
    std::array<real_t, 2> shares{static_cast<real_t>(share), static_cast<real_t>(1 - share)};
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = kSeed;
    options[METIS_OPTION_UFACTOR] = kUnevenness;
    idx_t cut = 0;
    std::vector<idx_t> half(work.size(), 0);
    const int outcome = METIS_PartGraphRecursive(
        &nodes, &constraints, first.data(), other.data(), work.data(), nullptr, bytes.data(),
        &parts, shares.data(), nullptr, options.data(), &cut, half.data());
    PACML_CHECK(outcome == METIS_OK, "METIS bisects what it is given");
    return half;
  }

  std::vector<std::int32_t> work_;
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> neighbours_;  // with weights
};

double speed_of(const PlacementProblem& problem, std::span<const std::int32_t> devices) {
  double sum = 0;
  for (const std::int32_t d : devices) sum += problem.devices->speed(at(d));
  return sum;
}

// METIS would go on halving pieces of which nothing is left.
void place(const PlacementProblem& problem, const CutGraph& graph,
           std::span<const std::int32_t> groups, std::span<const std::int32_t> devices,
           GroupPlacement& out) {
  if (devices.size() == 1 || groups.size() < 2) {
    for (const std::int32_t g : groups) out[at(g)] = devices.front();
    return;
  }
  const auto first = devices.first((devices.size() + 1) / 2);
  const auto rest = devices.subspan(first.size());
  const double share = speed_of(problem, first) / speed_of(problem, devices);
  const auto half = graph.halves(groups, share);
  std::array<std::vector<std::int32_t>, 2> pieces;
  for (std::size_t i = 0; i < groups.size(); ++i) pieces[at(half[i])].push_back(groups[i]);
  place(problem, graph, pieces[0], first, out);
  place(problem, graph, pieces[1], rest, out);
}

}  // namespace

GroupPlacement place_by_min_cut(const PlacementProblem& problem) {
  std::vector<std::int32_t> groups(problem.num_groups());
  std::iota(groups.begin(), groups.end(), 0);
  std::vector<std::int32_t> devices(problem.num_devices());
  std::iota(devices.begin(), devices.end(), 0);
  // What little there is goes to the fastest.
  std::ranges::stable_sort(devices, std::ranges::greater{},
                           [&](std::int32_t d) { return problem.devices->speed(at(d)); });
  GroupPlacement out(groups.size(), devices.front());
  place(problem, CutGraph(problem), groups, devices, out);
  return out;
}

}  // namespace pacml::env
