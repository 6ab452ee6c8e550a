#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/placement/op_graph.h"

namespace pacml::apps {

// The published policy of Placeto and its gradient, in double precision: for recordings, which hold
// its weights. Two message-passing sweeps over the nodes, one down and one up the graph; sums over
// the current node's ancestors, descendants and the nodes parallel to it; one score a device
// (arXiv:1906.08879 and its released code; docs/placement.md). Thread-confined.
class PlacetoNetwork {
 public:
  struct Layer {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::vector<double> matrix;  // [inputs, outputs]
    std::vector<double> bias;
  };
  using Stack = std::vector<Layer>;              // one layer after another, rectified in between
  using Weights = std::map<std::string, Stack>;  // by the names of recordings

  // `weights`: name -> list of [matrix (inputs x outputs), bias]; `rounds` of message passing.
  // UserError: parts are missing, or their widths do not go together.
  PlacetoNetwork(const nlohmann::json& weights, std::size_t width, std::size_t num_devices,
                 int rounds);

  // Nodes in the order in which an episode visits them, and the one that is to be placed.
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
  // Adds to `gradient` what the weights change a loss by that changes with the logits by
  // `by_logits`.
  void add_gradient(const Decision& decision, const env::IndexLists& children,
                    const env::IndexLists& parents, std::span<const double> by_logits,
                    Weights& gradient) const;

  [[nodiscard]] Weights& weights() { return weights_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }
  // As many zeroes.
  [[nodiscard]] Weights zeroes() const;

 private:
  using Rows = std::vector<std::vector<double>>;
  // What a stack was fed and gave, layer by layer: for the way back.
  struct Pass {
    std::vector<Rows> values;  // [layers + 1]
    [[nodiscard]] const Rows& out() const { return values.back(); }
  };
  struct Sweep {
    std::vector<Pass> messages;  // [rounds]
    std::vector<Pass> updates;   // [rounds]
    Rows out;
  };
  struct Pool {
    Pass messages;
    Pass pooled;
  };
  struct Forward {
    Pass base;
    Sweep down;
    Sweep up;
    std::array<Pool, 3> pools;
    Pass head;
  };

  void read(const nlohmann::json& weights, const std::string& name, std::size_t inputs,
            std::size_t outputs);
  [[nodiscard]] const Stack& part(const std::string& name) const { return weights_.at(name); }
  [[nodiscard]] Pass apply(const std::string& name, Rows rows, bool last_relu) const;
  // `by_out`: of what the stack gave; returns the same of what it was fed.
  [[nodiscard]] Rows back(const std::string& name, const Pass& pass, Rows by_out, bool last_relu,
                          Weights& gradient) const;
  [[nodiscard]] Sweep sweep(const Rows& base, const env::IndexLists& neighbours,
                            const std::string& direction) const;
  // Returns what the loss changes by with the base.
  [[nodiscard]] Rows sweep_back(const Sweep& sweep, const env::IndexLists& neighbours,
                                const std::string& direction, const Rows& by_out,
                                Weights& gradient) const;
  [[nodiscard]] Forward forward(const Decision& decision, const env::IndexLists& children,
                                const env::IndexLists& parents) const;

  Weights weights_;
  std::size_t width_;
  int rounds_;
};

// As recordings have them: name -> list of [matrix, bias].
[[nodiscard]] nlohmann::json to_json(const PlacetoNetwork::Weights& weights);

// What a decision's scores come to.
struct PlacetoChoice {
  double log_probability = 0;  // of the action
  double entropy = 0;          // with a thousandth added under the logarithm, as published
  std::vector<double> probabilities;
};
[[nodiscard]] PlacetoChoice placeto_choice(std::span<const double> logits, std::size_t action);

}  // namespace pacml::apps
