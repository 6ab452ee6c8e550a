#include "model/torch_policy.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/torch_model.h"

namespace pacml::model {

struct TorchPolicy::Impl {
  explicit Impl(const NetworkShape& network_shape)
      : shape(network_shape),
        layout(make_layout(shape)),
        values(at::zeros({static_cast<std::int64_t>(layout.total)}, at::kFloat)) {
    std::vector<at::Tensor> parts;
    for (const ParameterEntry& entry : layout.entries) {
      parts.push_back(values
                          .narrow(0, static_cast<std::int64_t>(entry.offset),
                                  static_cast<std::int64_t>(entry.size))
                          .view(entry.shape));
    }
    model = make_torch_model(shape, layout, parts);
  }

  NetworkShape shape;
  ParameterLayout layout;
  at::Tensor values;  // [total], the memory of every weight
  std::unique_ptr<TorchModel> model;
};

TorchPolicy::TorchPolicy(const NetworkShape& shape) : impl_(std::make_unique<Impl>(shape)) {}

TorchPolicy::~TorchPolicy() = default;

void TorchPolicy::set_graphs(std::span<const env::GraphFeaturesPtr> graphs) {
  impl_->model->set_graphs(graphs);
}

const ParameterLayout& TorchPolicy::layout() const { return impl_->layout; }

void TorchPolicy::set_parameters(const Parameters& parameters) {
  PACML_CHECK(fits(parameters, impl_->layout), "parameters of another network");
  std::ranges::copy(parameters.values, impl_->values.data_ptr<float>());
  impl_->model->weights_changed();
}

void TorchPolicy::evaluate(const Observations& batch, PolicyOutput& out) {
  out.logits.resize(batch.size() * batch.num_candidates());
  out.values.resize(batch.size());
  if (batch.size() == 0) return;
  const at::NoGradGuard no_record;
  const Heads result = impl_->model->forward(batch);
  const at::Tensor logits = result.logits.contiguous();
  const at::Tensor values = result.values.contiguous();
  std::copy_n(logits.data_ptr<float>(), out.logits.size(), out.logits.data());
  std::copy_n(values.data_ptr<float>(), out.values.size(), out.values.data());
}

}  // namespace pacml::model
