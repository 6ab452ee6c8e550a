#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/experience/observation_spec.h"
#include "common/experience/observations.h"
#include "common/ids.h"
#include "env/graph_features.h"

namespace pacml::env {

// Turns rows of observations into what a network reads of their candidates. Thread-confined: it
// may remember what it has computed.
class CandidateReader {
 public:
  virtual ~CandidateReader() = default;
  // Graphs that later rows refer to by index. Later rows show in each slot one that the view knows
  // there (PACML_CHECK).
  virtual void set_graphs(std::span<const GraphFeaturesPtr> graphs) = 0;
  // Writes the features of row b's valid candidates in the order of the actions, each row `stride`
  // floats after the one before it; what lies between is left alone. Behind `situation`, where that
  // is not null, it writes what the candidates have in common [the view's situation().size()].
  // Whatever the row holds, all of them are finite. Returns the number of candidates: those that
  // are 1 in batch.mask(b). Pre: stride >= the view's width().
  virtual std::size_t read(const Observations& batch, std::size_t b, float* rows,
                           std::size_t stride, float* situation) = 0;
};

// What networks read of each candidate of a task. It is computed from what travels, by the same
// function wherever a network reads: at an actor, at the learner, in an evaluation. Immutable; any
// thread.
class CandidateView {
 public:
  virtual ~CandidateView() = default;
  // Of a candidate, in the order of a row,
  [[nodiscard]] virtual std::span<const FeatureSpec> features() const = 0;
  // and of the decision as a whole: what a value is found from.
  [[nodiscard]] virtual std::span<const FeatureSpec> situation() const = 0;
  [[nodiscard]] std::size_t width() const { return features().size(); }
  // Whether decisions that show this graph in that slot can be read.
  [[nodiscard]] virtual bool knows(std::size_t slot, GraphHash graph) const = 0;
  [[nodiscard]] virtual std::unique_ptr<CandidateReader> make_reader() const = 0;
};
using CandidateViewPtr = std::shared_ptr<const CandidateView>;

// The view of a task that sends its candidates' features along: they are read as they are, and the
// globals are the situation. Either may be empty.
[[nodiscard]] CandidateViewPtr plain_view(const ObservationSpec& spec);

}  // namespace pacml::env
