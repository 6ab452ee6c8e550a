#include "model/reference_policy.h"

#include <cstddef>
#include <string>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/reference_candidates.h"
#include "model/reference_layers.h"
#include "model/reference_perceptron.h"

namespace pacml::model {
namespace {

using Vector = std::vector<double>;

class ReferencePolicy final : public Policy {
 public:
  explicit ReferencePolicy(const NetworkShape& shape)
      : shape_(shape), layout_(make_layout(shape)) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    graphs_.assign(graphs.begin(), graphs.end());
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    parameters_ = parameters;
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    const auto actions = static_cast<std::size_t>(shape_.actions);
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    out.logits.resize(batch.size() * actions);
    out.values.resize(batch.size());
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const Vector hidden = readout(batch, b);
      const Vector logits = linear("logits", hidden);
      for (std::size_t a = 0; a < actions; ++a) {
        out.logits[b * actions + a] =
            batch.mask(b)[a] != 0 ? static_cast<float>(logits[a]) : kMaskedLogit;
      }
      out.values[b] = static_cast<float>(linear("value", hidden)[0]);
    }
  }

 private:
  [[nodiscard]] std::span<const float> weight(const std::string& name) const {
    return view(parameters_, layout_, name);
  }

  [[nodiscard]] Vector linear(const std::string& name, const Vector& x) const {
    return reference_linear(parameters_, layout_, name, x);
  }

  [[nodiscard]] Vector norm(const std::string& name, const Vector& x) const {
    return reference_norm(parameters_, layout_, name, x);
  }

  // relu(linear(norm(x))), with the names NAME_norm and NAME.
  [[nodiscard]] Vector block(const std::string& name, const Vector& x) const {
    return rectified(linear(name, norm(name + "_norm", x)));
  }

  // Node embeddings after all rounds, one vector a node.
  [[nodiscard]] std::vector<Vector> embed(const env::GraphFeatures& graph) const {
    const auto node_width = static_cast<std::size_t>(graph.node_width);
    const auto edge_width = static_cast<std::size_t>(graph.edge_width);
    const auto half = static_cast<std::size_t>(shape_.config.message_width / 2);
    std::vector<Vector> nodes;
    for (auto it = graph.node_features.begin(); it != graph.node_features.end();
         it += graph.node_width) {
      nodes.emplace_back(it, it + static_cast<std::ptrdiff_t>(node_width));
    }
    for (int r = 0; r < shape_.config.rounds; ++r) {
      const std::string round = "round" + std::to_string(r) + ".";
      const auto out = static_cast<std::size_t>(round_output_width(shape_.config, r));
      std::vector<Vector> next(nodes.size(), Vector(out, 0.0));
      std::vector<Vector> node_half;
      for (const Vector& x : nodes) node_half.push_back(block(round + "node", x));
      std::vector<double> messages(nodes.size(), 0.0);
      const auto receive = [&](std::size_t v, Vector message, const Vector& edge_half) {
        message.insert(message.end(), edge_half.begin(), edge_half.end());
        const Vector reduced = block(round + "reduce", message);
        for (std::size_t i = 0; i < out; ++i) next[v][i] += reduced[i];
        messages[v] += 1;
      };
      for (std::size_t e = 0; e < graph.edge_src.size(); ++e) {
        const auto first =
            graph.edge_features.begin() + static_cast<std::ptrdiff_t>(e * edge_width);
        const Vector features(first, first + static_cast<std::ptrdiff_t>(edge_width));
        receive(static_cast<std::size_t>(graph.edge_dst[e]),
                node_half[static_cast<std::size_t>(graph.edge_src[e])],
                block(round + "edge", features));
      }
      for (std::size_t v = 0; v < nodes.size(); ++v) {
        if (messages[v] == 0) continue;  // no incoming edge: stays zero
        receive(v, node_half[v], Vector(half, 0.0));
        for (double& value : next[v]) value /= messages[v];
      }
      nodes = std::move(next);
    }
    return nodes;
  }

  // The hidden layer before the heads.
  [[nodiscard]] Vector readout(const Observations& batch, std::size_t b) const {
    const auto nodes = embed(*graphs_.at(batch.graph(b)));
    Vector joint(static_cast<std::size_t>(shape_.config.node_width), 0.0);
    for (const Vector& node : nodes) {
      for (std::size_t i = 0; i < joint.size(); ++i) {
        joint[i] += node[i] / static_cast<double>(nodes.size());
      }
    }
    Vector decision(batch.globals(b).begin(), batch.globals(b).end());
    for (const std::uint8_t valid : batch.mask(b)) decision.push_back(valid != 0 ? 1.0 : 0.0);
    const Vector embedded = linear("graph", norm("graph_norm", decision));
    joint.insert(joint.end(), embedded.begin(), embedded.end());
    return rectified(linear("readout", joint));
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Policy> make_reference_policy(const NetworkShape& shape) {
  if (shape.config.head == HeadKind::kCandidates) return make_reference_candidates(shape);
  if (shape.config.head == HeadKind::kPerceptron) return make_reference_perceptron(shape);
  return std::make_unique<ReferencePolicy>(shape);
}

}  // namespace pacml::model
