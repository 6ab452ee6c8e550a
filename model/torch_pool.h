#pragma once

// Internal to pacml_model_torch.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>

namespace pacml::model {

// [mean ; maximum] of the rows of each group, [groups, 2 width]. Rows [N, width] are group by
// group: those of group g end at ends[g]; none is empty.
[[nodiscard]] at::Tensor mean_and_maximum(const at::Tensor& rows,
                                          std::span<const std::size_t> ends);

}  // namespace pacml::model
