#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "env/environment.h"
#include "model/parameters.h"

namespace pacml::model {

// Sizes of the published network (PAC-ML, Parsonson et al., arXiv:2301.13799). Defaults are theirs.
struct NetworkConfig {
  int rounds = 2;            // of mean-pool message passing; >= 1
  int message_width = 32;    // a node half and an edge half; even
  int hidden_width = 64;     // node embedding between rounds
  int node_width = 16;       // node embedding after the last round
  int graph_width = 8;       // embedding of the globals and the mask
  int readout_width = 256;   // hidden layer before the heads
  bool operator==(const NetworkConfig&) const = default;
};

template <class Config, class Visitor>
  requires std::same_as<std::remove_const_t<Config>, NetworkConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("rounds", c.rounds);
  v("message_width", c.message_width);
  v("hidden_width", c.hidden_width);
  v("node_width", c.node_width);
  v("graph_width", c.graph_width);
  v("readout_width", c.readout_width);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const NetworkConfig& config);

// A network's sizes and the widths of what it is fed.
struct NetworkShape {
  NetworkConfig config;
  int node_features = 0;  // per node
  int edge_features = 0;  // per edge
  int globals = 0;        // per decision, without the mask; the mask is appended as 0/1
  int actions = 0;
  bool operator==(const NetworkShape&) const = default;
};

[[nodiscard]] NetworkShape make_shape(const NetworkConfig& config, const env::EnvironmentSpec& spec);

}  // namespace pacml::model
