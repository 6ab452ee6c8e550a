#include "model/fused_candidates.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/check.h"
#include "model/aligned.h"
#include "model/encoders/fused_encoders.h"
#include "model/layout.h"
#include "model/packed_weights.h"
#include "model/pool.h"

namespace pacml::model {
namespace {

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
        features_(padded(shape.candidate_inputs())),
        situation_(padded(shape.situation_inputs())),
        has_context_(shape.context_width() > 0),
        encoders_(shape, kernel) {
    const auto& config = shape.config.candidates;
    const std::size_t rows = kRowsAtOnce + static_cast<std::size_t>(shape.actions);
    candidates_.resize(rows * features_);
    hidden_.resize(rows * padded(config.hidden_width));
    embeddings_.resize(rows * padded(config.width));
    output_.resize(rows * padded(1));
    logits_.resize(rows);
    // Every decision has a candidate.
    pooled_.resize(rows * padded(2 * config.width));
    situations_.resize(rows * situation_);
    situation_hidden_.resize(rows * padded(config.hidden_width));
    state_.resize(rows * padded(config.state_width));
    value_output_.resize(rows * padded(1));
    counts_.reserve(rows);
  }

  void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) override {
    reader_->set_graphs(graphs);
    encoders_.set_graphs(graphs);
  }

  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  void set_parameters(const Parameters& parameters) override {
    PACML_CHECK(fits(parameters, layout_), "parameters of another network");
    weights_.emplace(shape_, layout_, parameters);
    held_value_ = held_value(parameters);
    encoders_.set_weights(weights_->encoders());
  }

  void evaluate(const Observations& batch, PolicyOutput& out) override {
    if (held_value_) {
      evaluate(batch, false, out);
      out.values.assign(batch.size(), *held_value_);
      return;
    }
    out.values.resize(batch.size());
    evaluate(batch, true, out);
  }
  void evaluate_logits(const Observations& batch, PolicyOutput& out) override {
    out.values.clear();
    evaluate(batch, false, out);
  }

 private:
  // The value of every state, where its weights are 0 (ValueHeads::kActions).
  [[nodiscard]] std::optional<float> held_value(const Parameters& parameters) const {
    std::optional<float> bias;
    for (const ParameterEntry& entry : layout_.entries) {
      const auto weights = std::span(parameters.values).subspan(entry.offset, entry.size);
      if (entry.name == "value.bias") bias = weights.front();
      const bool is_zero = std::ranges::all_of(weights, [](float weight) { return weight == 0; });
      if (entry.name == "value.weight" && !is_zero) return std::nullopt;
    }
    return bias;
  }

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
      if (has_context_) {
        encoders_.look_at(batch, b);
        if (values) {
          std::ranges::copy(encoders_.context(), situation + shape_.view->situation().size());
        }
        write_context(batch, b, rows);
      }
      rows_ += counts_.back();
    }
  }

  // What every candidate of a decision is shown behind its own features.
  void write_context(const Observations& batch, std::size_t b, float* rows) const {
    const auto mask = batch.mask(b);
    const auto nodes = batch.candidate_nodes(b);
    const bool shows_nodes = shape_.node_embedding_width() > 0;
    for (std::size_t a = 0; a < mask.size(); ++a) {
      if (mask[a] == 0) continue;
      float* next = rows + shape_.view->width();
      if (shows_nodes) next = std::ranges::copy(encoders_.node(nodes[a]), next).out;
      std::ranges::copy(encoders_.context(), next);
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
  bool has_context_;
  FusedEncoders encoders_;
  std::optional<PackedScorerWeights> weights_;
  std::optional<float> held_value_;
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
