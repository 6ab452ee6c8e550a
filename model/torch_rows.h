#pragma once

// Internal to pacml_model_torch.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace pacml::model {

// Rows taken out of a matrix and added up in another, forth and back. They equal index_select and
// index_add to the last bit; LibTorch 1.13 adds each row by an iterator of its own, which takes
// longer than the additions where rows are short.

// rows[index[i]] in row i. `rows` [N, W] of floating point, `index` int64 [M], each in 0..N-1.
[[nodiscard]] at::Tensor take_rows(const at::Tensor& rows, const at::Tensor& index);

// [groups, W]: row g is the sum of the rows with index[i] = g, in their order; 0 where there are
// none. `rows` [M, W] of floating point, `index` int64 [M], each in 0..groups-1.
[[nodiscard]] at::Tensor sum_rows(const at::Tensor& rows, const at::Tensor& index,
                                  std::int64_t groups);

}  // namespace pacml::model
