#include "model/torch_pool.h"

#include <ATen/ATen.h>

#include <cstdint>

#include "model/torch_rows.h"

namespace pacml::model {
namespace {

at::Tensor mean(const at::Tensor& rows, std::span<const std::size_t> ends) {
  const auto groups = static_cast<std::int64_t>(ends.size());
  const at::Tensor group = at::empty({rows.size(0)}, at::kLong);
  const at::Tensor shares = at::empty({groups, 1}, at::kFloat);
  std::int64_t* of_row = group.data_ptr<std::int64_t>();
  std::size_t begin = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    for (std::size_t row = begin; row < ends[g]; ++row) *of_row++ = static_cast<std::int64_t>(g);
    shares.data_ptr<float>()[g] = 1.0F / static_cast<float>(ends[g] - begin);
    begin = ends[g];
  }
  return sum_rows(rows, group, groups) * shares;
}

// Which rows are the greatest is found beside the gradient; where several are, the first one gets
// it.
at::Tensor maximum(const at::Tensor& rows, std::span<const std::size_t> ends) {
  const auto width = static_cast<std::size_t>(rows.size(1));
  const at::Tensor detached = rows.detach().contiguous();
  const float* values = detached.data_ptr<float>();
  const at::Tensor greatest =
      at::empty({static_cast<std::int64_t>(ends.size() * width)}, at::kLong);
  std::int64_t* out = greatest.data_ptr<std::int64_t>();
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    for (std::size_t i = 0; i < width; ++i) out[i] = static_cast<std::int64_t>(begin * width + i);
    for (std::size_t row = begin + 1; row < end; ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        if (values[row * width + i] > values[out[i]]) {
          out[i] = static_cast<std::int64_t>(row * width + i);
        }
      }
    }
    out += width;
    begin = end;
  }
  return rows.reshape({-1})
      .index_select(0, greatest)
      .view({static_cast<std::int64_t>(ends.size()), rows.size(1)});
}

}  // namespace

at::Tensor mean_and_maximum(const at::Tensor& rows, std::span<const std::size_t> ends) {
  return at::cat({mean(rows, ends), maximum(rows, ends)}, 1);
}

}  // namespace pacml::model
