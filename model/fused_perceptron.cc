#include "model/fused_perceptron.h"

#include <algorithm>
#include <optional>
#include <span>

#include "common/check.h"
#include "model/aligned.h"
#include "model/encoders/fused_encoders.h"
#include "model/layout.h"
#include "model/packed_weights.h"

namespace pacml::model {
namespace {

class FusedPerceptron final : public Policy {
 public:
  FusedPerceptron(const NetworkShape& shape, const Kernel& kernel)
      : input_(input_shape(shape)),
        shape_(shape),
        layout_(make_layout(shape)),
        kernel_(kernel),
        encoders_(shape, kernel),
        input_row_(padded(shape.perceptron_inputs())) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    encoders_.set_graphs(graphs);
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    weights_.emplace(shape_, layout_, parameters);
    encoders_.set_weights(weights_->encoders());
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    PACML_CHECK(weights_.has_value(), "a policy acts once it has parameters");
    PACML_CHECK(batch.shape() == input_, "a batch of another observation space");
    const auto actions = static_cast<std::size_t>(shape_.actions);
    out.logits.resize(batch.size() * actions);
    out.values.resize(batch.size());
    read(batch);
    apply(weights_->first(), inputs_, input_row_, batch.size(), first_);
    rectify(first_);
    apply(weights_->second(), first_, weights_->first().out, batch.size(), second_);
    rectify(second_);
    apply(weights_->heads(), second_, weights_->second().out, batch.size(), heads_);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const float* said = heads_.data() + b * weights_->heads().out;
      for (std::size_t a = 0; a < actions; ++a) {
        out.logits[b * actions + a] = batch.mask(b)[a] != 0 ? said[a] : kMaskedLogit;
      }
      out.values[b] = said[actions];
    }
  }

 private:
  // Fills inputs_.
  void read(const Observations& batch) {
    inputs_.resize(batch.size() * input_row_);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      encoders_.look_at(batch, b);
      float* const next = std::ranges::copy(batch.globals(b), inputs_.data() + b * input_row_).out;
      std::ranges::copy(encoders_.context(), next);
    }
  }

  // `row`: floats of an input, with those that pad it.
  void apply(const PackedLinear& layer, const AlignedFloats& inputs, std::size_t row,
             std::size_t rows, AlignedFloats& outputs) const {
    outputs.resize(rows * layer.out);
    kernel_.linear(layer, inputs.data(), row, rows, outputs.data());
  }
  static void rectify(AlignedFloats& values) {
    for (float& x : values) x = std::max(x, 0.0F);
  }

  const ObservationShape input_;
  const NetworkShape shape_;
  const ParameterLayout layout_;
  const Kernel& kernel_;
  FusedEncoders encoders_;
  std::size_t input_row_;
  std::optional<PackedPerceptronWeights> weights_;
  AlignedFloats inputs_, first_, second_, heads_;  // [decisions, padded width]
};

}  // namespace

std::unique_ptr<Policy> make_fused_perceptron(const NetworkShape& shape, const Kernel& kernel) {
  return std::make_unique<FusedPerceptron>(shape, kernel);
}

}  // namespace pacml::model
