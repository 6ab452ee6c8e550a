#include "model/trainable_network.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::model {

TrainableNetwork::Outputs TrainableNetwork::forward_rows(std::span<const std::uint32_t> rows) {
  PACML_CHECK(prepared_ != nullptr, "a batch was prepared");
  const auto& graphs = prepared_->graph_indices();
  const std::size_t named = graphs.empty() ? 0 : std::size_t{*std::ranges::max_element(graphs)} + 1;
  while (same_graphs_.size() < named) {
    same_graphs_.push_back(static_cast<std::uint16_t>(same_graphs_.size()));
  }
  if (part_.shape() != prepared_->shape()) part_ = Observations(prepared_->shape());
  part_.clear();
  for (const std::uint32_t row : rows) part_.append_rows(*prepared_, row, 1, same_graphs_);
  return forward(part_);
}

}  // namespace pacml::model
