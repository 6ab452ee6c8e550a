#include "model/trainable_network.h"

#include "common/check.h"

namespace pacml::model {

TrainableNetwork::Outputs TrainableNetwork::forward_rows(std::span<const std::uint32_t> rows) {
  PACML_CHECK(prepared_ != nullptr, "a batch was prepared");
  if (part_.shape() != prepared_->shape()) part_ = Observations(prepared_->shape());
  part_.clear();
  part_.set_graphs(prepared_->graphs());
  for (const std::uint32_t row : rows) part_.append_row(*prepared_, row);
  return forward(part_);
}

}  // namespace pacml::model
