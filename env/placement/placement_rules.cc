#include "env/placement/placement_rules.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "env/placement/placement_semantics.h"

namespace pacml::env {
namespace {

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& permutation) {
  std::vector<std::int32_t> back(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    back[at(permutation[i])] = static_cast<std::int32_t>(i);
  }
  return back;
}

// Of devices in the order of their numbers as text, in which "10" comes before "2".
std::vector<std::int32_t> ranks_by_text(std::size_t n) {
  std::vector<std::int32_t> list(n);
  std::iota(list.begin(), list.end(), 0);
  std::ranges::sort(list, {}, [](std::int32_t d) { return std::to_string(d); });
  return inverse(list);
}

}  // namespace

Ranking::Ranking(std::vector<std::int32_t> rank)
    : rank_(std::move(rank)), of_rank_(inverse(rank_)) {}

PlacetoRules::PlacetoRules(const OpGraph& graph, const DeviceSet& devices)
    : graph_(&graph),
      constants_(&devices.constants()),
      ops_({graph.name_rank().begin(), graph.name_rank().end()}),
      devices_(ranks_by_text(devices.size())) {
  for (const double bytes : graph.output_bytes()) {
    transfer_us_.push_back(bytes / constants_->bytes_per_us);
  }
}

PlacementRules placement_rules(const OpGraph& graph, const DeviceSet& devices) {
  if (devices.semantics() == PlacementSemantics::kPlaceto) return PlacetoRules(graph, devices);
  return CorrectedRules(graph, devices);
}

}  // namespace pacml::env
