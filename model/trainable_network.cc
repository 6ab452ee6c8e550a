#include "model/trainable_network.h"

#include "common/check.h"

namespace pacml::model {

TrainableNetwork::Outputs TrainableNetwork::forward_rows(std::span<const std::uint32_t> rows) {
  PACML_CHECK(prepared_ != nullptr, "a batch was prepared");
  part_.restart_as(*prepared_);
  for (const std::uint32_t row : rows) part_.append_row(*prepared_, row);
  return forward(part_);
}

}  // namespace pacml::model
