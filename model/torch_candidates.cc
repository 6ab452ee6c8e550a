#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/check.h"
#include "model/encoders/torch_encoders.h"
#include "model/torch_model.h"
#include "model/torch_pool.h"
#include "model/torch_rows.h"

namespace pacml::model {
namespace {

// A batch's valid candidates, decision by decision.
struct CandidateTensors {
  at::Tensor features;                  // [C, features]
  at::Tensor situations;                // [B, features of a situation], for values that are found
  at::Tensor places;                    // int64 [C]: row * actions + action
  std::vector<std::int64_t> actions;    // [C]
  std::vector<std::int64_t> decisions;  // [C]: row
  std::vector<std::size_t> ends;        // [B]: where the candidates of each row end
};

class TorchCandidates final : public TorchModel {
 public:
  TorchCandidates(const NetworkShape& shape, const NamedParts& parts)
      : shape_(shape),
        reader_(shape.view->make_reader()),
        encoders_(shape, parts),
        first_(linear_layer(parts, "first")),
        second_(linear_layer(parts, "second")),
        logits_(parts["logits.weight"]),
        situation_(linear_layer(parts, "situation")),
        state_(linear_layer(parts, "state")),
        value_(linear_layer(parts, "value")) {}

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    reader_->set_graphs(graphs);
    encoders_.set_graphs(graphs);
  }
  void hold_value() override { holds_value_ = true; }
  void weights_changed() override {}

  Heads forward(const Observations& batch) override {
    CandidateTensors in = read(batch);
    if (shape_.context_width() > 0) add_context(batch, in);
    return heads_of(in);
  }

  // Where graphs are read, gradients go through what is derived of them.
  [[nodiscard]] bool prepare(const Observations& batch) override {
    if (shape_.context_width() > 0) return false;
    prepared_ = read(batch);
    return true;
  }

  [[nodiscard]] Heads forward_rows(std::span<const std::uint32_t> rows) override {
    const CandidateTensors& all = prepared_;
    const auto begin_of = [&](std::uint32_t b) { return b == 0 ? 0 : all.ends[b - 1]; };
    std::size_t count = 0;
    for (const std::uint32_t b : rows) {
      PACML_CHECK(b < all.ends.size(), "a row that was prepared");
      count += all.ends[b] - begin_of(b);
    }
    CandidateTensors in;
    const at::Tensor candidates = at::empty({static_cast<std::int64_t>(count)}, at::kLong);
    const at::Tensor decisions = at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);
    in.places = at::empty_like(candidates);
    std::int64_t* candidate = candidates.data_ptr<std::int64_t>();
    std::int64_t* place = in.places.data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      decisions.data_ptr<std::int64_t>()[i] = rows[i];
      for (std::size_t c = begin_of(rows[i]); c < all.ends[rows[i]]; ++c) {
        *candidate++ = static_cast<std::int64_t>(c);
        *place++ = static_cast<std::int64_t>(i) * shape_.actions + all.actions[c];
      }
      in.ends.push_back(static_cast<std::size_t>(candidate - candidates.data_ptr<std::int64_t>()));
    }
    in.features = all.features.index_select(0, candidates);
    if (!holds_value_) in.situations = all.situations.index_select(0, decisions);
    return heads_of(in);
  }

 private:
  [[nodiscard]] Heads heads_of(const CandidateTensors& in) const {
    const at::Tensor candidates = at::relu(apply(second_, at::relu(apply(first_, in.features))));
    const at::Tensor scores = at::matmul(candidates, logits_.t()).squeeze(1);
    const auto rows = static_cast<std::int64_t>(in.ends.size());
    const at::Tensor masked = at::full({rows * shape_.actions}, kMaskedLogit, at::kFloat);
    return {masked.scatter(0, in.places, scores).view({rows, shape_.actions}),
            holds_value_ ? value_.bias.expand({rows}).clone() : values_of(in, candidates)};
  }

  [[nodiscard]] at::Tensor values_of(const CandidateTensors& in,
                                     const at::Tensor& candidates) const {
    const at::Tensor seen = at::cat(
        {at::relu(apply(situation_, in.situations)), mean_and_maximum(candidates, in.ends)}, 1);
    return apply(value_, at::relu(apply(state_, seen))).squeeze(1);
  }

  [[nodiscard]] CandidateTensors read(const Observations& batch) {
    PACML_CHECK(batch.shape() == input_shape(shape_), "a batch of another observation space");
    const auto masks = batch.masks();
    const auto count =
        static_cast<std::int64_t>(masks.size()) - std::ranges::count(masks, std::uint8_t{0});
    const auto rows = static_cast<std::int64_t>(batch.size());
    const std::size_t width = shape_.view->width();
    const std::size_t common = shape_.view->situation().size();
    CandidateTensors out;
    out.features = at::empty({count, static_cast<std::int64_t>(width)}, at::kFloat);
    out.situations = at::empty({rows, static_cast<std::int64_t>(common)}, at::kFloat);
    out.places = at::empty({count}, at::kLong);
    float* features = out.features.data_ptr<float>();
    float* situation = out.situations.data_ptr<float>();
    std::int64_t* place = out.places.data_ptr<std::int64_t>();
    std::size_t end = 0;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      end += reader_->read(batch, b, features + end * width, width,
                           holds_value_ ? nullptr : situation + b * common);
      out.ends.push_back(end);
      const auto mask = batch.mask(b);
      for (std::size_t a = 0; a < mask.size(); ++a) {
        if (mask[a] == 0) continue;
        out.decisions.push_back(static_cast<std::int64_t>(b));
        out.actions.push_back(static_cast<std::int64_t>(a));
        *place++ = out.decisions.back() * shape_.actions + out.actions.back();
      }
    }
    return out;
  }

  // Behind the features: the candidate's own node, and what all candidates have in common.
  void add_context(const Observations& batch, CandidateTensors& in) {
    const TorchEncoders::Context context = encoders_.encode(batch);
    std::vector<at::Tensor> features = {in.features};
    if (context.candidates) {
      const at::Tensor nodes = at::empty({in.places.size(0)}, at::kLong);
      std::int64_t* node = nodes.data_ptr<std::int64_t>();
      for (std::size_t c = 0; c < in.decisions.size(); ++c) {
        const auto b = static_cast<std::size_t>(in.decisions[c]);
        const auto own = batch.candidate_nodes(b)[static_cast<std::size_t>(in.actions[c])];
        *node++ = context.candidates->first_node[b] + own;
      }
      features.push_back(take_rows(context.candidates->nodes, nodes));
    }
    const at::Tensor decision = at::empty({in.places.size(0)}, at::kLong);
    std::ranges::copy(in.decisions, decision.data_ptr<std::int64_t>());
    features.push_back(take_rows(context.values, decision));
    in.features = at::cat(features, 1);
    if (!holds_value_) in.situations = at::cat({in.situations, context.values}, 1);
  }

  NetworkShape shape_;
  CandidateTensors prepared_;
  std::unique_ptr<env::CandidateReader> reader_;
  TorchEncoders encoders_;
  TorchLayer first_, second_;
  at::Tensor logits_;
  TorchLayer situation_, state_, value_;
  bool holds_value_ = false;
};

}  // namespace

std::unique_ptr<TorchModel> make_torch_candidates(const NetworkShape& shape,
                                                  const NamedParts& parts) {
  return std::make_unique<TorchCandidates>(shape, parts);
}

}  // namespace pacml::model
