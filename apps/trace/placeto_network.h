#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/placement/op_graph.h"

namespace pacml::apps {

// The published policy of Placeto, forward pass in double precision: for recordings, which hold its
// weights. Two message-passing sweeps over the nodes, one down and one up the graph; sums over the
// current node's ancestors, descendants and the nodes parallel to it; one score a device
// (arXiv:1906.08879 and its released code; docs/placement.md). Immutable.
class PlacetoNetwork {
 public:
  // `weights`: name -> list of [matrix (inputs x outputs), bias]; `rounds` of message passing.
  // UserError: parts are missing, or their widths do not go together.
  PlacetoNetwork(const nlohmann::json& weights, std::size_t width, std::size_t num_devices,
                 int rounds);

  struct Decision {
    std::span<const float> features;  // [nodes, width]
    std::size_t node = 0;
    std::vector<int> ancestors = {};  // [nodes] as 0 and 1
    std::vector<int> descendants = {};
    std::vector<int> parallel = {};
  };
  // One logit a device.
  [[nodiscard]] std::vector<double> logits(const Decision& decision,
                                           const env::IndexLists& children,
                                           const env::IndexLists& parents) const;

 private:
  struct Layer {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::vector<double> matrix;  // [inputs, outputs]
    std::vector<double> bias;
  };
  using Stack = std::vector<Layer>;
  using Rows = std::vector<std::vector<double>>;

  [[nodiscard]] static Rows apply(const Stack& stack, Rows rows, bool last_relu);
  [[nodiscard]] Rows sweep(const Rows& base, const env::IndexLists& neighbours, const Stack& f,
                           const Stack& g) const;
  [[nodiscard]] const Stack& part(const std::string& name) const { return parts_.at(name); }
  void read(const nlohmann::json& weights, const std::string& name, std::size_t inputs,
            std::size_t outputs);

  std::map<std::string, Stack> parts_;
  std::size_t width_;
  int rounds_;
};

}  // namespace pacml::apps
