#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/check.h"
#include "model/torch_model.h"

namespace pacml::model {
namespace {

// Which graphs a batch names, each once, and where its decisions find theirs.
struct DistinctGraphs {
  std::vector<std::int32_t> graphs;  // ascending
  at::Tensor rows;                   // int64 [B]: position in `graphs`
};

DistinctGraphs distinct_graphs(std::span<const std::uint16_t> named, std::size_t num_graphs) {
  std::vector<std::int64_t> position(num_graphs, -1);
  for (const std::uint16_t graph : named) {
    PACML_CHECK(graph < num_graphs, "a batch names graphs that the network was given");
    position[graph] = 0;
  }
  DistinctGraphs out;
  for (std::size_t graph = 0; graph < num_graphs; ++graph) {
    if (position[graph] < 0) continue;
    position[graph] = static_cast<std::int64_t>(out.graphs.size());
    out.graphs.push_back(static_cast<std::int32_t>(graph));
  }
  out.rows = at::empty({static_cast<std::int64_t>(named.size())}, at::kLong);
  std::ranges::transform(named, out.rows.data_ptr<std::int64_t>(),
                         [&](std::uint16_t graph) { return position[graph]; });
  return out;
}

class TorchDense final : public TorchModel {
 public:
  TorchDense(const NetworkShape& shape, const NamedParts& parts)
      : shape_(shape), weights_(name_weights(shape, parts)) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    graphs_.assign(graphs.begin(), graphs.end());
    united_graphs_.clear();
    embeddings_.reset();
  }

  void weights_changed() override { embeddings_.reset(); }

  Heads forward(const Observations& batch) override {
    const DistinctGraphs distinct = distinct_graphs(batch.graph_indices(), graphs_.size());
    const DecisionTensors decisions = decision_tensors(shape_, batch);
    if (at::GradMode::is_enabled()) {
      return heads(weights_, embed(weights_, unite_distinct(distinct.graphs)), distinct.rows,
                   decisions);
    }
    // Whoever acts does so many times with the same weights.
    if (!embeddings_.defined()) embeddings_ = embed(weights_, unite(shape_, graphs_));
    at::Tensor rows = at::empty({static_cast<std::int64_t>(batch.size())}, at::kLong);
    std::ranges::copy(batch.graph_indices(), rows.data_ptr<std::int64_t>());
    return heads(weights_, embeddings_, rows, decisions);
  }

 private:
  // The union of the batch's graphs, kept while batches name the same ones.
  const GraphUnion& unite_distinct(const std::vector<std::int32_t>& distinct) {
    if (distinct != united_graphs_) {
      std::vector<env::GraphFeaturesPtr> members;
      for (const std::int32_t graph : distinct) {
        members.push_back(graphs_[static_cast<std::size_t>(graph)]);
      }
      united_ = unite(shape_, members);
      united_graphs_ = distinct;
    }
    return united_;
  }

  NetworkShape shape_;
  NetworkWeights weights_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  std::vector<std::int32_t> united_graphs_;  // which of graphs_ are in united_
  GraphUnion united_;
  at::Tensor embeddings_;  // [graphs, node_width]; undefined when graphs or weights have changed
};

}  // namespace

std::unique_ptr<TorchModel> make_torch_dense(const NetworkShape& shape, const NamedParts& parts) {
  return std::make_unique<TorchDense>(shape, parts);
}

}  // namespace pacml::model
