#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/check.h"
#include "model/torch_model.h"

namespace pacml::model {
namespace {

struct Layer {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    return at::linear(x, weight, bias);
  }
};

// A batch's valid candidates, decision by decision.
struct CandidateTensors {
  at::Tensor features;            // [C, features]
  at::Tensor situations;          // [B, features of a situation]
  at::Tensor places;              // int64 [C]: row * actions + action
  at::Tensor decisions;           // int64 [C]: row
  at::Tensor shares;              // [B, 1]: 1 / candidates of the row
  std::vector<std::size_t> ends;  // [B]: where the candidates of each row end
};

class TorchCandidates final : public TorchModel {
 public:
  TorchCandidates(const NetworkShape& shape, const NamedParts& parts)
      : shape_(shape),
        reader_(shape.view->make_reader()),
        first_(layer(parts, "first")),
        second_(layer(parts, "second")),
        logits_(parts["logits.weight"]),
        situation_(layer(parts, "situation")),
        state_(layer(parts, "state")),
        value_(layer(parts, "value")) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    reader_->set_graphs(graphs);
  }
  void weights_changed() override {}

  Heads forward(const Observations& batch) override {
    const CandidateTensors in = read(batch);
    const at::Tensor candidates = at::relu(second_(at::relu(first_(in.features))));
    const at::Tensor scores = at::matmul(candidates, logits_.t()).squeeze(1);
    const auto rows = static_cast<std::int64_t>(batch.size());
    const at::Tensor masked = at::full({rows * shape_.actions}, kMaskedLogit, at::kFloat);
    const at::Tensor mean =
        at::zeros({rows, candidates.size(1)}, at::kFloat).index_add(0, in.decisions, candidates) *
        in.shares;
    const at::Tensor seen =
        at::cat({at::relu(situation_(in.situations)), mean, maxima(candidates, in.ends)}, 1);
    return {masked.scatter(0, in.places, scores).view({rows, shape_.actions}),
            value_(at::relu(state_(seen))).squeeze(1)};
  }

 private:
  [[nodiscard]] static Layer layer(const NamedParts& parts, const std::string& name) {
    return {parts[name + ".weight"], parts[name + ".bias"]};
  }

  [[nodiscard]] CandidateTensors read(const Observations& batch) {
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    const auto masks = batch.masks();
    const auto count =
        static_cast<std::int64_t>(masks.size()) - std::ranges::count(masks, std::uint8_t{0});
    const auto rows = static_cast<std::int64_t>(batch.size());
    const auto width = static_cast<std::size_t>(shape_.candidate_features());
    const auto common = static_cast<std::size_t>(shape_.situation_features());
    CandidateTensors out{at::empty({count, shape_.candidate_features()}, at::kFloat),
                         at::empty({rows, shape_.situation_features()}, at::kFloat),
                         at::empty({count}, at::kLong),
                         at::empty({count}, at::kLong),
                         at::empty({rows, 1}, at::kFloat),
                         {}};
    float* features = out.features.data_ptr<float>();
    float* situation = out.situations.data_ptr<float>();
    std::int64_t* place = out.places.data_ptr<std::int64_t>();
    std::int64_t* decision = out.decisions.data_ptr<std::int64_t>();
    std::size_t end = 0;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::size_t read =
          reader_->read(batch, b, features + end * width, width, situation + b * common);
      const auto mask = batch.mask(b);
      for (std::size_t a = 0; a < mask.size(); ++a) {
        if (mask[a] == 0) continue;
        *place++ = static_cast<std::int64_t>(b) * shape_.actions + static_cast<std::int64_t>(a);
        *decision++ = static_cast<std::int64_t>(b);
      }
      end += read;
      out.ends.push_back(end);
      out.shares.data_ptr<float>()[b] = 1.0F / static_cast<float>(read);
    }
    return out;
  }

  // The greatest of each decision's candidates, number by number [B, width]. Which they are is
  // found beside the gradient; where several are the greatest the first one gets it.
  [[nodiscard]] static at::Tensor maxima(const at::Tensor& candidates,
                                         const std::vector<std::size_t>& ends) {
    const auto width = static_cast<std::size_t>(candidates.size(1));
    const at::Tensor detached = candidates.detach().contiguous();
    const float* values = detached.data_ptr<float>();
    at::Tensor greatest = at::empty({static_cast<std::int64_t>(ends.size() * width)}, at::kLong);
    std::int64_t* out = greatest.data_ptr<std::int64_t>();
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      for (std::size_t i = 0; i < width; ++i) out[i] = static_cast<std::int64_t>(begin * width + i);
      for (std::size_t c = begin + 1; c < end; ++c) {
        for (std::size_t i = 0; i < width; ++i) {
          if (values[c * width + i] > values[out[i]])
            out[i] = static_cast<std::int64_t>(c * width + i);
        }
      }
      out += width;
      begin = end;
    }
    return candidates.reshape({-1})
        .index_select(0, greatest)
        .view({static_cast<std::int64_t>(ends.size()), candidates.size(1)});
  }

  NetworkShape shape_;
  std::unique_ptr<env::CandidateReader> reader_;
  Layer first_, second_;
  at::Tensor logits_;
  Layer situation_, state_, value_;
};

}  // namespace

std::unique_ptr<TorchModel> make_torch_candidates(const NetworkShape& shape,
                                                  const NamedParts& parts) {
  return std::make_unique<TorchCandidates>(shape, parts);
}

}  // namespace pacml::model
