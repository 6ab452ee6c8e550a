#pragma once

#include <vector>

#include "model/aligned.h"
#include "model/encoders/graph_encoder.h"
#include "model/kernels/kernel.h"
#include "model/layout.h"
#include "model/network_config.h"
#include "model/parameters.h"

namespace pacml::model {

// One version of a network's weights, arranged as the kernels read them: transposed, padded, norms
// folded into the layers behind them. Owns what network() points to. Immutable, movable.
class PackedWeights {
 public:
  // Pre: `layout` is that of `shape`, and the parameters are of that layout (PACML_CHECK).
  PackedWeights(const NetworkShape& shape, const ParameterLayout& layout,
                const Parameters& parameters);
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights(PackedWeights&&) = default;
  PackedWeights& operator=(const PackedWeights&) = delete;
  PackedWeights& operator=(PackedWeights&&) = default;
  ~PackedWeights() = default;

  [[nodiscard]] const PackedNetwork& network() const { return network_; }

 private:
  std::vector<AlignedFloats> blocks_;
  std::vector<PackedRound> rounds_;
  PackedNetwork network_;
};

using PackedEncoder = GraphEncoderLayers<PackedLinear, PackedNorm>;

// The same of head: perceptron.
class PackedPerceptronWeights {
 public:
  PackedPerceptronWeights(const NetworkShape& shape, const ParameterLayout& layout,
                          const Parameters& parameters);
  PackedPerceptronWeights(const PackedPerceptronWeights&) = delete;
  PackedPerceptronWeights(PackedPerceptronWeights&&) = default;
  PackedPerceptronWeights& operator=(const PackedPerceptronWeights&) = delete;
  PackedPerceptronWeights& operator=(PackedPerceptronWeights&&) = default;
  ~PackedPerceptronWeights() = default;

  [[nodiscard]] const PackedLinear& first() const { return first_; }
  [[nodiscard]] const PackedLinear& second() const { return second_; }
  [[nodiscard]] const PackedLinear& heads() const { return heads_; }  // logits, then the value
  // Of each slot that has an encoder, in their order.
  [[nodiscard]] const std::vector<PackedEncoder>& encoders() const { return encoders_; }

 private:
  std::vector<AlignedFloats> blocks_;
  std::vector<PackedEncoder> encoders_;
  PackedLinear first_, second_, heads_;
};

// The same of head: candidates.
class PackedScorerWeights {
 public:
  PackedScorerWeights(const NetworkShape& shape, const ParameterLayout& layout,
                      const Parameters& parameters);
  PackedScorerWeights(const PackedScorerWeights&) = delete;
  PackedScorerWeights(PackedScorerWeights&&) = default;
  PackedScorerWeights& operator=(const PackedScorerWeights&) = delete;
  PackedScorerWeights& operator=(PackedScorerWeights&&) = default;
  ~PackedScorerWeights() = default;

  [[nodiscard]] const PackedScorer& scorer() const { return scorer_; }
  // Of each slot that has an encoder, in their order.
  [[nodiscard]] const std::vector<PackedEncoder>& encoders() const { return encoders_; }

 private:
  std::vector<AlignedFloats> blocks_;
  std::vector<PackedEncoder> encoders_;
  PackedScorer scorer_;
};

}  // namespace pacml::model
