#include "env/onnx/tensor_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "env/onnx/onnx_call.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

constexpr std::size_t kMostTensors = 1'000'000;

}  // namespace

const OnnxTensor& TensorTable::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    refuse_model(*source_, "nothing gives the tensor \"" + printable(name) + "\" that it reads");
  }
  return found->second;
}

OnnxTensor& TensorTable::add(std::string_view name, OnnxTensor tensor) {
  check(tensor, name);
  if (tensors_.size() >= kMostTensors) {
    refuse_model(*source_, "it has more than a million tensors");
  }
  const auto [place, is_new] = tensors_.emplace(name, std::move(tensor));
  if (!is_new) refuse_model(*source_, "tensor \"" + printable(name) + "\" is given twice");
  return place->second;
}

void TensorTable::check(const OnnxTensor& tensor, std::string_view name) const {
  const bool is_bounded = tensor.num_axes() <= kMostAxes &&
                          product_of(tensor.extents) <= kMostElements &&
                          std::ranges::all_of(tensor.extents, [](std::int64_t extent) {
                            return extent >= 0 && static_cast<double>(extent) <= kMostElements;
                          });
  if (!is_bounded) {
    refuse_model(*source_, "tensor \"" + printable(name) + "\" cannot have the shape " +
                               to_text(tensor.extents));
  }
  if (element_bytes(tensor.type) == 0) {
    refuse_model(*source_, "tensor \"" + printable(name) + "\" holds no numbers (type " +
                               std::to_string(tensor.type) + ")");
  }
}

}  // namespace pacml::env
