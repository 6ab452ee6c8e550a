#include "env/candidate_view.h"

#include <algorithm>
#include <vector>

#include "common/check.h"

namespace pacml::env {
namespace {

class PlainReader final : public CandidateReader {
 public:
  explicit PlainReader(std::size_t width) : width_(width) {}

  void set_graphs(std::span<const GraphFeaturesPtr> /*graphs*/) override {}

  std::size_t read(const Observations& batch, std::size_t b, float* rows, std::size_t stride,
                   float* situation) override {
    if (situation != nullptr) std::ranges::copy(batch.globals(b), situation);
    const auto features = batch.candidates(b);
    const auto mask = batch.mask(b);
    PACML_CHECK(features.size() == mask.size() * width_, "candidates of another width");
    std::size_t count = 0;
    for (std::size_t a = 0; a < mask.size(); ++a) {
      if (mask[a] == 0) continue;
      std::ranges::copy(features.subspan(a * width_, width_), rows + count++ * stride);
    }
    return count;
  }

 private:
  std::size_t width_;
};

class PlainView final : public CandidateView {
 public:
  explicit PlainView(const ObservationSpec& spec)
      : features_(spec.candidates.features), situation_(spec.globals) {}

  [[nodiscard]] std::span<const FeatureSpec> features() const override { return features_; }
  [[nodiscard]] std::span<const FeatureSpec> situation() const override { return situation_; }
  [[nodiscard]] bool knows(std::size_t /*slot*/, GraphHash /*graph*/) const override {
    return true;
  }
  [[nodiscard]] std::unique_ptr<CandidateReader> make_reader() const override {
    return std::make_unique<PlainReader>(features_.size());
  }

 private:
  std::vector<FeatureSpec> features_;
  std::vector<FeatureSpec> situation_;
};

}  // namespace

CandidateViewPtr plain_view(const ObservationSpec& spec) {
  return std::make_shared<const PlainView>(spec);
}

}  // namespace pacml::env
