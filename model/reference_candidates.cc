#include "model/reference_candidates.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/check.h"
#include "model/layout.h"
#include "model/reference_layers.h"

namespace pacml::model {
namespace {

using Vector = std::vector<double>;

class ReferenceCandidates final : public Policy {
 public:
  explicit ReferenceCandidates(const NetworkShape& shape)
      : shape_(shape), layout_(make_layout(shape)), reader_(shape.view->make_reader()) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    reader_->set_graphs(graphs);
  }

  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(parameters.layout_hash == layout_.hash, "parameters of another network");
    parameters_ = parameters;
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    out.logits.clear();
    out.values.clear();
    for (std::size_t b = 0; b < batch.size(); ++b) evaluate(batch, b, out);
  }

 private:
  void evaluate(const Observations& batch, std::size_t b, PolicyOutput& out) {
    const auto width = static_cast<std::size_t>(shape_.candidate_features());
    const auto actions = static_cast<std::size_t>(shape_.actions);
    std::vector<float> rows(batch.mask(b).size() * width);
    std::vector<float> situation(static_cast<std::size_t>(shape_.situation_features()));
    const std::size_t count = reader_->read(batch, b, rows.data(), width, situation.data());
    std::vector<Vector> candidates;
    for (std::size_t i = 0; i < count; ++i) {
      const auto features = std::span(rows).subspan(i * width, width);
      candidates.push_back(rectified(
          linear("second", rectified(linear("first", {features.begin(), features.end()})))));
    }
    std::size_t next = 0;
    for (const std::uint8_t valid : batch.mask(b)) {
      out.logits.push_back(valid != 0 ? static_cast<float>(product("logits", candidates[next++]))
                                      : kMaskedLogit);
    }
    out.logits.resize(out.values.size() * actions + actions, kMaskedLogit);
    Vector seen = rectified(linear("situation", {situation.begin(), situation.end()}));
    for (std::size_t i = 0; i < candidates.front().size(); ++i) {
      double sum = 0;
      for (const Vector& candidate : candidates) sum += candidate[i];
      seen.push_back(sum / static_cast<double>(count));
    }
    for (std::size_t i = 0; i < candidates.front().size(); ++i) {
      double most = candidates.front()[i];
      for (const Vector& candidate : candidates) most = std::max(most, candidate[i]);
      seen.push_back(most);
    }
    out.values.push_back(
        static_cast<float>(linear("value", rectified(linear("state", seen))).front()));
  }

  // W x of a layer with one output.
  [[nodiscard]] double product(const std::string& name, const Vector& x) const {
    const auto w = view(parameters_, layout_, name + ".weight");
    double y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) y += double{w[i]} * x[i];
    return y;
  }

  [[nodiscard]] Vector linear(const std::string& name, const Vector& x) const {
    return reference_linear(parameters_, layout_, name, x);
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  std::unique_ptr<env::CandidateReader> reader_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Policy> make_reference_candidates(const NetworkShape& shape) {
  return std::make_unique<ReferenceCandidates>(shape);
}

}  // namespace pacml::model
