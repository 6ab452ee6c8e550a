#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/experience/observations.h"
#include "common/finite.h"
#include "common/ids.h"
#include "common/result.h"
#include "env/graph_features.h"
#include "model/network_constants.h"
#include "model/parameters.h"

namespace pacml::model {

// What a policy says of a batch: one row per observation.
struct PolicyOutput {
  std::vector<float> logits;  // row-major [B, A]; an invalid action's logit is kMaskedLogit, as are
                              // those behind the last candidate of a row that has fewer than A
  std::vector<float> values;  // [B]
};

// Whether what a network says can be acted upon and learned from: every number is finite, and no
// logit beyond kMaskedLogit either way. Weights that have diverged say otherwise. Pure.
[[nodiscard]] inline bool is_sound(std::span<const float> logits, std::span<const float> values) {
  return all_within(logits, -kMaskedLogit) && all_finite(values);
}
[[nodiscard]] inline bool is_sound(const PolicyOutput& output) {
  return is_sound(output.logits, output.values);
}

// A network says what is not sound, where no others' word can take its place.
class UnsoundOutput final : public UserError {
 public:
  UnsoundOutput()
      : UserError("the network says nothing that can be acted upon: its training had diverged") {}
  // The same in a sentence that says whose it is.
  using UserError::UserError;
};

// The acting side of a policy; its implementations (fused kernels, LibTorch, and a plain one
// in double precision to compare with) are held together by a test. Thread-confined.
class Policy {
 public:
  virtual ~Policy() = default;
  // Graphs that later batches refer to by index. Replaces the former list; embeddings are
  // recomputed.
  virtual void set_graphs(std::span<const env::GraphFeaturesPtr> graphs) = 0;
  // Of the weights that it takes.
  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;
  // New weights, as fits(parameters, layout()) has them (PACML_CHECK: callers compare first).
  virtual void set_parameters(const Parameters& parameters) = 0;
  // Logits and values of `batch`. Runs the graph network at most once per distinct graph and
  // parameter version. Resizes `out`.
  virtual void evaluate(const Observations& batch, PolicyOutput& out) = 0;
  // The same logits for those who need no values, which are left out or not: out.values is empty or
  // theirs.
  virtual void evaluate_logits(const Observations& batch, PolicyOutput& out) {
    evaluate(batch, out);
  }
};

}  // namespace pacml::model
