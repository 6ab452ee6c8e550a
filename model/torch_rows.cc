#include "model/torch_rows.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "common/check.h"

namespace pacml::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// Without a gradient.
at::Tensor summed(const at::Tensor& rows, const at::Tensor& index, std::int64_t groups) {
  const at::Tensor from = rows.contiguous();
  const at::Tensor to = index.contiguous();
  const std::int64_t width = from.size(1);
  PACML_CHECK(to.numel() == from.size(0), "an index for each row");
  at::Tensor sums = at::zeros({groups, width}, from.options());
  AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "summed", [&] {
    const scalar_t* row = from.data_ptr<scalar_t>();
    scalar_t* const sum = sums.data_ptr<scalar_t>();
    const std::int64_t* const group = to.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < from.size(0); ++i, row += width) {
      PACML_CHECK(group[i] >= 0 && group[i] < groups, "a group that is there");
      scalar_t* const out = sum + group[i] * width;
      for (std::int64_t j = 0; j < width; ++j) out[j] += row[j];
    }
  });
  return sums;
}

class TakeRows final : public torch::autograd::Function<TakeRows> {
 public:
  static Variable forward(AutogradContext* context, const Variable& rows, const Variable& index) {
    context->save_for_backward({index});
    context->saved_data["rows"] = rows.size(0);
    return rows.index_select(0, index);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Variable index = context->get_saved_variables()[0];
    return {summed(gradients[0], index, context->saved_data["rows"].toInt()), Variable()};
  }
};

class SumRows final : public torch::autograd::Function<SumRows> {
 public:
  static Variable forward(AutogradContext* context, const Variable& rows, const Variable& index,
                          std::int64_t groups) {
    context->save_for_backward({index});
    return summed(rows, index, groups);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Variable index = context->get_saved_variables()[0];
    return {gradients[0].index_select(0, index), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor take_rows(const at::Tensor& rows, const at::Tensor& index) {
  return TakeRows::apply(rows, index);
}

at::Tensor sum_rows(const at::Tensor& rows, const at::Tensor& index, std::int64_t groups) {
  return SumRows::apply(rows, index, groups);
}

}  // namespace pacml::model
