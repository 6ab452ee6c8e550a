#include "model/torch_rows.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/variable.h>

#include <vector>

#include "tests/support/catch.h"

namespace pacml::model {
namespace {

at::Tensor indices(const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// Of no particular values, but of the same ones in every run.
at::Tensor some_rows(std::int64_t rows, std::int64_t width) {
  return at::sin(at::arange(rows * width, at::kFloat) * 1.7F).view({rows, width});
}

at::Tensor leaf(const at::Tensor& values) { return values.clone().set_requires_grad(true); }

// Weighted, so that each element has a gradient of its own.
void go_back(const at::Tensor& result) {
  (result * some_rows(result.size(0), result.size(1))).sum().backward();
}

TEST_CASE("rows are taken and added up as LibTorch does it, forth and back",
          "[unit][model_torch]") {
  const auto width = GENERATE(1, 3, 8, 33);
  const at::Tensor values = some_rows(9, width);
  // Some come again, not in order, and some never.
  const at::Tensor index = indices({4, 0, 4, 4, 8, 2, 0, 7, 2});

  const at::Tensor taken = leaf(values);
  const at::Tensor expected = leaf(values);
  CHECK(at::equal(take_rows(taken, index), expected.index_select(0, index)));
  go_back(take_rows(taken, index));
  go_back(expected.index_select(0, index));
  CHECK(at::equal(taken.grad(), expected.grad()));

  const at::Tensor summed = leaf(values);
  const at::Tensor added = leaf(values);
  const auto by_libtorch = [&] {
    return at::zeros({10, width}, at::kFloat).index_add(0, index, added);
  };
  CHECK(at::equal(sum_rows(summed, index, 10), by_libtorch()));
  go_back(sum_rows(summed, index, 10));
  go_back(by_libtorch());
  CHECK(at::equal(summed.grad(), added.grad()));
}

TEST_CASE("no rows at all, and rows that lie apart, are sums like others", "[unit][model_torch]") {
  CHECK(at::equal(sum_rows(at::zeros({0, 3}), indices({}), 2), at::zeros({2, 3})));
  CHECK(take_rows(some_rows(2, 3), indices({})).size(0) == 0);
  const at::Tensor turned = some_rows(3, 4).t();
  const at::Tensor index = indices({1, 1, 0, 1});
  CHECK(at::equal(sum_rows(turned, index, 2),
                  at::zeros({2, 3}).index_add(0, index, turned.contiguous())));
}

}  // namespace
}  // namespace pacml::model
