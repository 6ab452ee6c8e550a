#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "common/check.h"
#include "model/encoders/torch_encoders.h"
#include "model/torch_model.h"

namespace pacml::model {
namespace {

class TorchPerceptron final : public TorchModel {
 public:
  TorchPerceptron(const NetworkShape& shape, const NamedParts& parts)
      : shape_(shape),
        encoders_(shape, parts),
        first_(linear_layer(parts, "first")),
        second_(linear_layer(parts, "second")),
        logits_(linear_layer(parts, "logits")),
        value_(linear_layer(parts, "value")) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    encoders_.set_graphs(graphs);
  }
  void weights_changed() override {}

  Heads forward(const Observations& batch) override {
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    const auto rows = static_cast<std::int64_t>(batch.size());
    std::vector<at::Tensor> seen = {at::empty({rows, shape_.globals}, at::kFloat)};
    std::ranges::copy(batch.globals(), seen.front().data_ptr<float>());
    if (shape_.context_width() > 0) seen.push_back(encoders_.encode(batch).values);
    const at::Tensor invalid = at::empty({rows, shape_.actions}, at::kBool);
    std::ranges::transform(batch.masks(), invalid.data_ptr<bool>(),
                           [](std::uint8_t valid) { return valid == 0; });
    const at::Tensor hidden = at::relu(apply(second_, at::relu(apply(first_, at::cat(seen, 1)))));
    return {apply(logits_, hidden).masked_fill(invalid, kMaskedLogit),
            apply(value_, hidden).squeeze(1)};
  }

 private:
  NetworkShape shape_;
  TorchEncoders encoders_;
  TorchLayer first_, second_, logits_, value_;
};

}  // namespace

std::unique_ptr<TorchModel> make_torch_perceptron(const NetworkShape& shape,
                                                  const NamedParts& parts) {
  return std::make_unique<TorchPerceptron>(shape, parts);
}

}  // namespace pacml::model
