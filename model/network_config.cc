#include "model/network_config.h"

#include <string_view>

#include "common/check.h"

namespace pacml::model {
namespace {

// Far above what is sensible, far below what would exhaust memory by a slip of the keyboard.
constexpr int kMaxRounds = 32;
constexpr int kMaxWidth = 4096;

}  // namespace

std::vector<std::string> validate(const NetworkConfig& config) {
  std::vector<std::string> problems;
  const auto in_range = [&problems](std::string_view key, int value, int max) {
    if (value >= 1 && value <= max) return;
    problems.push_back(std::string(key) + " must be from 1 to " + std::to_string(max) + ", not " +
                       std::to_string(value));
  };
  in_range("rounds", config.rounds, kMaxRounds);
  in_range("message_width", config.message_width, kMaxWidth);
  in_range("hidden_width", config.hidden_width, kMaxWidth);
  in_range("node_width", config.node_width, kMaxWidth);
  in_range("graph_width", config.graph_width, kMaxWidth);
  in_range("readout_width", config.readout_width, kMaxWidth);
  if (config.message_width % 2 != 0) {
    problems.push_back("message_width must be even (a node half and an edge half), not " +
                       std::to_string(config.message_width));
  }
  return problems;
}

NetworkShape make_shape(const NetworkConfig& config, const env::EnvironmentSpec& spec) {
  PACML_CHECK(unreadable(spec.observation).empty(), "a task that this network can read");
  const SlotSpec& graph = spec.observation.slots.front();
  return {config, static_cast<int>(graph.node_width), static_cast<int>(graph.edge_width),
          spec.num_globals(), spec.num_actions()};
}

std::vector<std::string> unreadable(const ObservationSpec& spec) {
  std::vector<std::string> problems;
  if (spec.slots.size() != 1) {
    problems.push_back("the network reads one graph a decision, the task shows " +
                       std::to_string(spec.slots.size()));
  }
  for (const SlotSpec& slot : spec.slots) {
    if (slot.dynamic_width > 0) {
      problems.push_back("the network reads no features of nodes that change, as those of \"" +
                         slot.name + "\" do");
    }
    if (slot.focus) {
      problems.push_back("the network does not read which node of \"" + slot.name +
                         "\" a decision is about");
    }
  }
  if (spec.candidates.vary) {
    problems.emplace_back(
        "the network has one output for each candidate, and their number varies in this task");
  }
  if (!spec.candidates.features.empty() || spec.candidates.node_slot) {
    problems.emplace_back("the network does not read what the task shows of each candidate");
  }
  if (spec.agents > 1) problems.emplace_back("the network does not read which agent decides");
  return problems;
}

ObservationShape input_shape(const NetworkShape& shape) {
  return plain_shape(static_cast<std::size_t>(shape.globals),
                     static_cast<std::size_t>(shape.actions));
}

}  // namespace pacml::model
