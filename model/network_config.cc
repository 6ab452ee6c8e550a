#include "model/network_config.h"

#include <string_view>

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
  return {config, spec.node_width, spec.edge_width, spec.num_globals, spec.num_actions};
}

}  // namespace pacml::model
