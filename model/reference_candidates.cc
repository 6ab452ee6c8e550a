#include "model/reference_candidates.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "model/encoders/reference_encoder.h"
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
    for (std::size_t b = 0; b < batch.size(); ++b) evaluate(batch, b, out);
  }

 private:
  void evaluate(const Observations& batch, std::size_t b, PolicyOutput& out) {
    const std::size_t width = shape_.view->width();
    const auto actions = static_cast<std::size_t>(shape_.actions);
    std::vector<float> rows(batch.mask(b).size() * width);
    std::vector<float> features(shape_.view->situation().size());
    const std::size_t count = reader_->read(batch, b, rows.data(), width, features.data());
    const auto encoded = reference_context(shape_, parameters_, layout_, graphs_, batch, b);
    std::vector<Vector> candidates;
    for (std::size_t a = 0; a < batch.mask(b).size(); ++a) {
      if (batch.mask(b)[a] == 0) continue;
      const auto own = std::span(rows).subspan(candidates.size() * width, width);
      Vector input(own.begin(), own.end());
      if (shape_.node_embedding_width() > 0) {
        append(input, encoded.nodes.at(batch.candidate_nodes(b)[a]));
      }
      append(input, encoded.values);
      candidates.push_back(rectified(linear("second", rectified(linear("first", input)))));
    }
    PACML_CHECK(candidates.size() == count, "as many rows as valid candidates");
    Vector situation(features.begin(), features.end());
    append(situation, encoded.values);
    std::size_t next = 0;
    for (const std::uint8_t valid : batch.mask(b)) {
      out.logits.push_back(valid != 0 ? static_cast<float>(reference_product(
                                            parameters_, layout_, "logits", candidates[next++])[0])
                                      : kMaskedLogit);
    }
    out.logits.resize(out.values.size() * actions + actions, kMaskedLogit);
    Vector seen = rectified(linear("situation", situation));
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

  static void append(Vector& row, const Vector& more) {
    row.insert(row.end(), more.begin(), more.end());
  }

  [[nodiscard]] Vector linear(const std::string& name, const Vector& x) const {
    return reference_linear(parameters_, layout_, name, x);
  }

  NetworkShape shape_;
  ParameterLayout layout_;
  std::unique_ptr<env::CandidateReader> reader_;
  std::vector<env::GraphFeaturesPtr> graphs_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Policy> make_reference_candidates(const NetworkShape& shape) {
  return std::make_unique<ReferenceCandidates>(shape);
}

}  // namespace pacml::model
