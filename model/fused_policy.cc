#include "model/fused_policy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/check.h"
#include "model/aligned.h"
#include "model/encoders/slot_inputs.h"
#include "model/fused_candidates.h"
#include "model/fused_perceptron.h"
#include "model/kernels/kernel.h"
#include "model/layout.h"
#include "model/packed_weights.h"
#include "model/prepared_graph.h"

namespace pacml::model {
namespace {

// Null where this build or this CPU cannot.
const Kernel* usable_avx2_kernel() {
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_kernel();
#endif
  return nullptr;
}

const Kernel& choose(KernelPath path) {
  PACML_CHECK(is_supported(path), "this machine cannot run the kernel that was asked for");
  const Kernel* avx2 = path == KernelPath::kPortable ? nullptr : usable_avx2_kernel();
  return avx2 == nullptr ? portable_kernel() : *avx2;
}

// The kernels' working memory, grown to the largest graph.
class Workspace {
 public:
  explicit Workspace(const NetworkShape& shape)
      : half_(padded(shape.config.message_width / 2)),
        wide_(padded(std::max(shape.config.hidden_width, shape.config.node_width))),
        input_(kDecisionBlock * padded(shape.globals + shape.actions)),
        graph_(kDecisionBlock * padded(shape.config.graph_width)),
        readout_(kDecisionBlock * padded(shape.config.readout_width)),
        head_(kDecisionBlock * padded(shape.actions + 1)) {}

  void fit(const PreparedGraph& graph) {
    const auto grow = [](AlignedFloats& buffer, std::size_t size) {
      if (buffer.size() < size) buffer.resize(size);
    };
    grow(embedding_, graph.nodes() * wide_);
    grow(node_half_, graph.nodes() * half_);
    grow(node_product_, graph.nodes() * wide_);
    grow(node_mean_, graph.nodes());
    grow(node_square_, graph.nodes());
    grow(edge_half_, graph.edges() * half_);
    grow(edge_product_, graph.edges() * wide_);
    grow(edge_mean_, graph.edges());
    grow(edge_square_, graph.edges());
  }
  [[nodiscard]] GraphScratch for_graphs() {
    return {embedding_.data(),    node_half_.data(),   node_product_.data(),
            node_mean_.data(),    node_square_.data(), edge_half_.data(),
            edge_product_.data(), edge_mean_.data(),   edge_square_.data()};
  }
  [[nodiscard]] DecisionScratch for_decisions() {
    return {input_.data(), graph_.data(), readout_.data(), head_.data()};
  }

 private:
  std::size_t half_, wide_;
  AlignedFloats embedding_, node_half_, node_product_, node_mean_, node_square_;
  AlignedFloats edge_half_, edge_product_, edge_mean_, edge_square_;
  AlignedFloats input_, graph_, readout_, head_;
};

class FusedPolicy final : public Policy {
 public:
  FusedPolicy(const NetworkShape& shape, const Kernel& kernel)
      : shape_(shape),
        input_(input_shape(shape)),
        layout_(make_layout(shape)),
        kernel_(kernel),
        workspace_(shape) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    graphs_.clear();
    for (const env::GraphFeaturesPtr& graph : graphs) {
      PACML_CHECK(is_of(shape_.graph(), *graph), "a graph with features of another width");
      workspace_.fit(graphs_.emplace_back(*graph));
    }
    graph_readout_.resize(graphs_.size() * readout_stride());
    embedded_.assign(graphs_.size(), false);
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    weights_.emplace(shape_, layout_, parameters);
    embedded_.assign(graphs_.size(), false);
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    PACML_CHECK(weights_.has_value(), "a policy acts once it has parameters");
    const PackedNetwork& network = weights_->network();
    PACML_CHECK(batch.shape() == input_, "a batch of another observation space");
    for (const std::uint16_t graph : batch.graph_indices()) embed(network, graph);
    out.logits.resize(batch.size() * network.actions);
    out.values.resize(batch.size());
    const DecisionBatch decisions{batch.size(), batch.graph_indices().data(),
                                  batch.globals().data(), batch.masks().data(),
                                  graph_readout_.data()};
    kernel_.decide(network, decisions, workspace_.for_decisions(), out.logits.data(),
                   out.values.data());
  }

 private:
  [[nodiscard]] std::size_t readout_stride() const { return padded(shape_.config.readout_width); }

  void embed(const PackedNetwork& network, std::size_t graph) {
    PACML_CHECK(graph < graphs_.size(), "an observation names a graph that was not set");
    if (embedded_[graph]) return;
    kernel_.embed_graph(network, graphs_[graph].packed(), workspace_.for_graphs(),
                        graph_readout_.data() + graph * readout_stride());
    embedded_[graph] = true;
  }

  const NetworkShape shape_;
  const ObservationShape input_;
  const ParameterLayout layout_;
  const Kernel& kernel_;
  Workspace workspace_;
  std::vector<PreparedGraph> graphs_;
  std::optional<PackedWeights> weights_;
  AlignedFloats graph_readout_;  // [graphs, padded readout width]
  std::vector<bool> embedded_;   // [graphs]: graph_readout_ is that of these weights
};

}  // namespace

bool is_supported(KernelPath path) {
  return path != KernelPath::kAvx2 || usable_avx2_kernel() != nullptr;
}

std::unique_ptr<Policy> make_fused_policy(const NetworkShape& shape, KernelPath path) {
  if (shape.config.head == HeadKind::kCandidates) {
    return make_fused_candidates(shape, choose(path));
  }
  if (shape.config.head == HeadKind::kPerceptron) {
    return make_fused_perceptron(shape, choose(path));
  }
  return std::make_unique<FusedPolicy>(shape, choose(path));
}

}  // namespace pacml::model
