#include "model/fused_candidates.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/check.h"
#include "model/aligned.h"
#include "model/encoders/fused_encoder.h"
#include "model/layout.h"
#include "model/packed_weights.h"
#include "model/pool.h"

namespace pacml::model {
namespace {

std::size_t row(int width) { return padded(static_cast<std::size_t>(width)); }

// Candidates that are scored together: enough to keep the weights in registers and caches busy, few
// enough that the rows stay in the cache between being written and being read.
constexpr std::size_t kRowsAtOnce = 96;

class FusedCandidates final : public Policy {
 public:
  FusedCandidates(const NetworkShape& shape, const Kernel& kernel)
      : shape_(shape),
        input_(input_shape(shape)),
        layout_(make_layout(shape)),
        kernel_(kernel),
        reader_(shape.view->make_reader()),
        width_(static_cast<std::size_t>(shape.config.candidates.width)),
        features_(row(shape.candidate_inputs())),
        situation_(row(shape.situation_inputs())),
        context_(static_cast<std::size_t>(shape.context_width())) {
    const auto& config = shape.config.candidates;
    for (std::size_t slot = 0; slot < shape.slots.size(); ++slot) {
      if (!shape.slots[slot].encoder) continue;
      if (shape.node_slot == slot) node_encoder_ = encoders_.size();
      encoders_.emplace_back(shape.slots[slot], slot, kernel);
    }
    const std::size_t rows = kRowsAtOnce + static_cast<std::size_t>(shape.actions);
    candidates_.resize(rows * features_);
    hidden_.resize(rows * row(config.hidden_width));
    embeddings_.resize(rows * row(config.width));
    output_.resize(rows * row(1));
    logits_.resize(rows);
    // Every decision has a candidate.
    pooled_.resize(rows * row(2 * config.width));
    situations_.resize(rows * situation_);
    situation_hidden_.resize(rows * row(config.hidden_width));
    state_.resize(rows * row(config.state_width));
    value_output_.resize(rows * row(1));
    counts_.reserve(rows);
  }

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    reader_->set_graphs(graphs);
    for (FusedEncoder& encoder : encoders_) encoder.set_graphs(graphs);
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    weights_.emplace(shape_, layout_, parameters);
    for (std::size_t e = 0; e < encoders_.size(); ++e) {
      encoders_[e].set_weights(weights_->encoders()[e]);
    }
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    out.values.resize(batch.size());
    evaluate(batch, true, out);
  }
  void evaluate_logits(const Observations& batch, PolicyOutput& out) override {
    out.values.clear();
    evaluate(batch, false, out);
  }

 private:
  void evaluate(const Observations& batch, bool values, PolicyOutput& out) {
    PACML_CHECK(weights_.has_value(), "a policy acts once it has parameters");
    PACML_CHECK(batch.shape() == input_, "a batch of another observation space");
    out.logits.assign(batch.size() * batch.num_candidates(), kMaskedLogit);
    for (std::size_t first = 0; first < batch.size(); first += counts_.size()) {
      read(batch, first, values);
      score(batch, first, out);
      if (values) find_values(first, out);
    }
  }

  // Fills candidates_ with those of some decisions, from `first` on; where values are asked for,
  // also situations_.
  void read(const Observations& batch, std::size_t first, bool values) {
    counts_.clear();
    rows_ = 0;
    for (std::size_t b = first; b < batch.size() && rows_ < kRowsAtOnce; ++b) {
      float* const rows = candidates_.data() + rows_ * features_;
      float* const situation = values ? situations_.data() + (b - first) * situation_ : nullptr;
      counts_.push_back(reader_->read(batch, b, rows, features_, situation));
      if (!context_.empty()) {
        find_context(batch, b);
        if (values) std::ranges::copy(context_, situation + shape_.view->situation().size());
        write_context(batch, b, rows);
      }
      rows_ += counts_.back();
    }
  }

  // What every candidate of a decision is shown behind its own features.
  void find_context(const Observations& batch, std::size_t b) {
    auto next = context_.begin();
    for (FusedEncoder& encoder : encoders_) {
      encoder.look_at(batch, b);
      next = std::ranges::copy(encoder.context(), next).out;
    }
    if (shape_.agents == 1) return;
    std::fill(next, context_.end(), 0.0F);
    next[batch.agent(b)] = 1.0F;
  }

  void write_context(const Observations& batch, std::size_t b, float* rows) const {
    const auto mask = batch.mask(b);
    const auto nodes = batch.candidate_nodes(b);
    for (std::size_t a = 0; a < mask.size(); ++a) {
      if (mask[a] == 0) continue;
      float* next = rows + shape_.view->width();
      if (node_encoder_) {
        next = std::ranges::copy(encoders_[*node_encoder_].node(nodes[a]), next).out;
      }
      std::ranges::copy(context_, next);
      rows += features_;
    }
  }

  void score(const Observations& batch, std::size_t first, PolicyOutput& out) {
    const PackedScorer& scorer = weights_->scorer();
    kernel_.score(scorer, candidates_.data(), rows_, {hidden_.data(), output_.data()},
                  embeddings_.data(), logits_.data());
    const float* logit = logits_.data();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      float* said = out.logits.data() + (first + i) * batch.num_candidates();
      for (const std::uint8_t valid : batch.mask(first + i)) {
        if (valid != 0) *said = *logit++;
        ++said;
      }
    }
  }

  // Of the decisions that were scored.
  void find_values(std::size_t first, PolicyOutput& out) {
    const float* embedding = embeddings_.data();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      mean_and_maximum(embedding, counts_[i], width_, padded(width_),
                       pooled_.data() + i * padded(2 * width_));
      embedding += counts_[i] * padded(width_);
    }
    kernel_.value(weights_->scorer(), situations_.data(), pooled_.data(), counts_.size(),
                  {situation_hidden_.data(), state_.data(), value_output_.data()},
                  out.values.data() + first);
  }

  const NetworkShape shape_;
  const ObservationShape input_;
  const ParameterLayout layout_;
  const Kernel& kernel_;
  std::unique_ptr<env::CandidateReader> reader_;
  std::size_t width_;     // of an embedding
  std::size_t features_;  // of a candidate, padded
  std::size_t situation_;
  std::vector<FusedEncoder> encoders_;       // of the slots that have one
  std::optional<std::size_t> node_encoder_;  // the one whose nodes the candidates are
  std::vector<float> context_;               // of the decision that is read
  std::optional<PackedScorerWeights> weights_;
  // Of the decisions that are looked at.
  std::vector<std::size_t> counts_;  // candidates of each
  std::size_t rows_ = 0;             // all candidates
  AlignedFloats candidates_, hidden_, embeddings_, output_;
  std::vector<float> logits_;
  AlignedFloats pooled_, situations_, situation_hidden_, state_, value_output_;
};

}  // namespace

std::unique_ptr<Policy> make_fused_candidates(const NetworkShape& shape, const Kernel& kernel) {
  return std::make_unique<FusedCandidates>(shape, kernel);
}

}  // namespace pacml::model
