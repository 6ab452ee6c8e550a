#include "model/reference_perceptron.h"

#include <string>
#include <vector>

#include "common/check.h"
#include "model/encoders/reference_encoder.h"
#include "model/layout.h"
#include "model/reference_layers.h"

namespace pacml::model {
namespace {

class ReferencePerceptron final : public Policy {
 public:
  explicit ReferencePerceptron(const NetworkShape& shape)
      : shape_(shape), layout_(make_layout(shape)) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    graphs_.assign(graphs.begin(), graphs.end());
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    parameters_ = parameters;
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    out.logits.clear();
    out.values.clear();
    for (std::size_t b = 0; b < batch.size(); ++b) {
      std::vector<double> seen(batch.globals(b).begin(), batch.globals(b).end());
      const auto context = reference_context(shape_, parameters_, layout_, graphs_, batch, b);
      seen.insert(seen.end(), context.values.begin(), context.values.end());
      const auto hidden = rectified(linear("second", rectified(linear("first", seen))));
      const auto logits = linear("logits", hidden);
      for (std::size_t a = 0; a < logits.size(); ++a) {
        out.logits.push_back(batch.mask(b)[a] != 0 ? static_cast<float>(logits[a]) : kMaskedLogit);
      }
      out.values.push_back(static_cast<float>(linear("value", hidden).front()));
    }
  }

 private:
  [[nodiscard]] std::vector<double> linear(const std::string& name,
                                           const std::vector<double>& x) const {
    return reference_linear(parameters_, layout_, name, x);
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Policy> make_reference_perceptron(const NetworkShape& shape) {
  return std::make_unique<ReferencePerceptron>(shape);
}

}  // namespace pacml::model
