#include "common/experience/observation_spec.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace pacml {
namespace {

std::string more_than(std::uint64_t found, std::string_view what, std::uint64_t most) {
  return std::to_string(found) + " " + std::string(what) + ", more than " + std::to_string(most);
}

void check_names(std::string_view group, const std::vector<std::string>& names,
                 std::vector<std::string>& problems) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) problems.push_back(std::string(group) + ": one has no name");
    if (!name.empty() && !seen.insert(name).second) {
      problems.push_back(std::string(group) + ": two are named " + name);
    }
  }
}

void check_features(std::string_view group, const std::vector<FeatureSpec>& features,
                    std::vector<std::string>& problems) {
  std::vector<std::string> names;
  for (const FeatureSpec& feature : features) {
    names.push_back(feature.name);
    if (!(feature.low <= feature.high)) {
      problems.push_back(std::string(group) + ": " + feature.name + " has no range");
    }
    if (feature.unit.empty()) {
      problems.push_back(std::string(group) + ": " + feature.name + " has no unit");
    }
  }
  check_names(group, names, problems);
}

}  // namespace

bool ObservationShape::rectangular() const {
  return !candidates_vary &&
         std::ranges::all_of(slots, [](const Slot& slot) { return slot.dynamic_width == 0; });
}

std::size_t ObservationShape::row_bytes(std::size_t most_nodes) const {
  std::size_t bytes = globals * sizeof(float) + (agents > 1 ? sizeof(std::uint16_t) : 0);
  for (const Slot& slot : slots) {
    bytes += sizeof(std::uint16_t) + (slot.focus ? sizeof(std::uint32_t) : 0);
    if (slot.dynamic_width > 0) {
      bytes += sizeof(std::uint32_t) + most_nodes * slot.dynamic_width * sizeof(float);
    }
  }
  const std::size_t candidate = candidate_width * sizeof(float) +
                                (candidates_name_nodes ? sizeof(std::uint32_t) : 0) +
                                sizeof(std::uint8_t);
  return bytes + candidates * candidate + (candidates_vary ? sizeof(std::uint32_t) : 0);
}

ObservationShape plain_shape(std::size_t globals, std::size_t candidates) {
  ObservationShape shape;
  shape.slots.resize(1);
  shape.globals = static_cast<std::uint32_t>(globals);
  shape.candidates = static_cast<std::uint32_t>(candidates);
  return shape;
}

std::size_t ObservationSpec::row_bytes() const {
  std::size_t bytes = shape().row_bytes();
  for (const SlotSpec& slot : slots) {
    bytes += std::size_t{slot.most_nodes} * slot.dynamic_width * sizeof(float);
  }
  return bytes;
}

ObservationShape ObservationSpec::shape() const {
  ObservationShape out;
  for (const SlotSpec& slot : slots) out.slots.push_back({slot.dynamic_width, slot.focus});
  out.globals = static_cast<std::uint32_t>(globals.size());
  out.candidates = candidates.most;
  out.candidates_vary = candidates.vary;
  out.candidate_width = static_cast<std::uint32_t>(candidates.features.size());
  out.candidates_name_nodes = candidates.node_slot.has_value();
  out.agents = agents;
  return out;
}

std::optional<std::string> beyond(const ObservationShape& shape, const ObservationLimits& limits) {
  if (shape.slots.size() > limits.max_slots) {
    return more_than(shape.slots.size(), "graphs a decision", limits.max_slots);
  }
  for (const auto& slot : shape.slots) {
    if (slot.dynamic_width > limits.max_dynamic_width) {
      return more_than(slot.dynamic_width, "features a node", limits.max_dynamic_width);
    }
  }
  if (shape.globals > limits.max_globals) {
    return more_than(shape.globals, "global features", limits.max_globals);
  }
  if (shape.candidates > limits.max_candidates) {
    return more_than(shape.candidates, "candidates", limits.max_candidates);
  }
  if (shape.candidate_width > limits.max_candidate_width) {
    return more_than(shape.candidate_width, "features a candidate", limits.max_candidate_width);
  }
  if (shape.agents > limits.max_agents) {
    return more_than(shape.agents, "agents", limits.max_agents);
  }
  return std::nullopt;
}

std::vector<std::string> validate(const ObservationSpec& spec, const ObservationLimits& limits) {
  std::vector<std::string> problems;
  if (auto problem = beyond(spec.shape(), limits)) problems.push_back(*std::move(problem));
  if (spec.slots.empty()) problems.emplace_back("a decision shows at least one graph");
  if (spec.candidates.most == 0) problems.emplace_back("a decision has at least one candidate");
  if (spec.agents == 0) problems.emplace_back("there is at least one agent");
  if (spec.candidates.node_slot && *spec.candidates.node_slot >= spec.slots.size()) {
    problems.emplace_back("candidates name nodes of a graph that is not shown");
  }
  std::vector<std::string> slots;
  for (const SlotSpec& slot : spec.slots) slots.push_back(slot.name);
  check_names("graphs", slots, problems);
  check_features("globals", spec.globals, problems);
  check_features("candidates", spec.candidates.features, problems);
  return problems;
}

}  // namespace pacml
