#include "model/torch_network.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/torch_model.h"

namespace pacml::model {
namespace {

at::Tensor borrow(std::span<const float> values, at::IntArrayRef shape) {
  // from_blob asks for a mutable pointer; autograd reads incoming gradients only.
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

}  // namespace

struct TorchNetwork::Impl {
  explicit Impl(const NetworkShape& network_shape)
      : shape(network_shape),
        layout(make_layout(shape)),
        values(at::zeros({static_cast<std::int64_t>(layout.total)}, at::kFloat)),
        gradients(at::zeros_like(values)) {
    // Each weight is a leaf of its own, whose value and gradient are windows of the flat tensors:
    // autograd adds to a gradient that exists in place.
    std::vector<at::Tensor> parts;
    for (const ParameterEntry& entry : layout.entries) {
      const auto window = [&](const at::Tensor& flat) {
        return flat
            .narrow(0, static_cast<std::int64_t>(entry.offset),
                    static_cast<std::int64_t>(entry.size))
            .view(entry.shape);
      };
      at::Tensor part = window(values).detach().requires_grad_(true);
      part.mutable_grad() = window(gradients);
      parts.push_back(std::move(part));
    }
    model = make_torch_model(shape, layout, parts);
  }

  Outputs record(Heads&& heads) {
    recorded = {heads.logits.contiguous(), heads.values.contiguous()};
    return {{recorded.logits.data_ptr<float>(), static_cast<std::size_t>(recorded.logits.numel())},
            {recorded.values.data_ptr<float>(), static_cast<std::size_t>(recorded.values.numel())}};
  }

  NetworkShape shape;
  ParameterLayout layout;
  at::Tensor values;     // [total], the memory of every weight
  at::Tensor gradients;  // [total], the memory of every weight's gradient
  std::unique_ptr<TorchModel> model;
  Heads recorded;  // of the last forward(), until its backward()
  bool is_prepared = false;
};

TorchNetwork::TorchNetwork(const NetworkShape& shape) : impl_(std::make_unique<Impl>(shape)) {}

TorchNetwork::~TorchNetwork() = default;

const NetworkShape& TorchNetwork::shape() const { return impl_->shape; }

const ParameterLayout& TorchNetwork::layout() const { return impl_->layout; }

void TorchNetwork::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  impl_->model->set_graphs(graphs);
}

std::span<float> TorchNetwork::parameters() {
  return {impl_->values.data_ptr<float>(), impl_->layout.total};
}

std::span<const float> TorchNetwork::parameters() const {
  return {impl_->values.data_ptr<float>(), impl_->layout.total};
}

void TorchNetwork::hold_value() { impl_->model->hold_value(); }

TrainableNetwork::Outputs TorchNetwork::forward(const Observations& batch) {
  PACML_CHECK(batch.size() > 0, "an empty batch has no outputs");
  return impl_->record(impl_->model->forward(batch));
}

void TorchNetwork::prepare(const Observations& batch) {
  impl_->is_prepared = impl_->model->prepare(batch);
  if (!impl_->is_prepared) TrainableNetwork::prepare(batch);
}

TrainableNetwork::Outputs TorchNetwork::forward_rows(std::span<const std::uint32_t> rows) {
  PACML_CHECK(!rows.empty(), "an empty batch has no outputs");
  if (!impl_->is_prepared) return TrainableNetwork::forward_rows(rows);
  return impl_->record(impl_->model->forward_rows(rows));
}

std::span<float> TorchNetwork::backward(std::span<const float> logit_gradients,
                                        std::span<const float> value_gradients) {
  Heads& outputs = impl_->recorded;
  PACML_CHECK(outputs.logits.defined() && outputs.logits.requires_grad(),
              "backward() follows a forward(), once");
  PACML_CHECK(logit_gradients.size() == static_cast<std::size_t>(outputs.logits.numel()) &&
                  value_gradients.size() == static_cast<std::size_t>(outputs.values.numel()),
              "gradients have the shapes of the outputs");
  impl_->gradients.zero_();
  std::vector<at::Tensor> roots = {outputs.logits};
  std::vector<at::Tensor> root_gradients = {borrow(logit_gradients, outputs.logits.sizes())};
  // What passes back a 0 passes back nothing.
  if (std::ranges::any_of(value_gradients, [](float gradient) { return gradient != 0; })) {
    roots.push_back(outputs.values);
    root_gradients.push_back(borrow(value_gradients, outputs.values.sizes()));
  }
  torch::autograd::backward(roots, root_gradients);
  // The record is used up; the outputs' memory stays for who still reads them.
  outputs = {outputs.logits.detach(), outputs.values.detach()};
  return {impl_->gradients.data_ptr<float>(), impl_->layout.total};
}

}  // namespace pacml::model
