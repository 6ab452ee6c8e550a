#include "learner/fits.h"

#include <cstdint>
#include <string>

namespace pacml::learner {
namespace {

Result<void> fits(const Observations& observations, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  const ObservationShape ours = model::input_shape(shape);
  const ObservationShape& theirs = observations.shape();
  const auto differs = [](const char* what, std::uint32_t found, std::uint32_t expected) {
    return fail(Errc::kVersionMismatch, "experience has " + std::to_string(found) + " " + what +
                                            ", the network expects " + std::to_string(expected));
  };
  if (theirs.globals != ours.globals) {
    return differs("global features", theirs.globals, ours.globals);
  }
  if (theirs.candidates != ours.candidates) {
    return differs("actions", theirs.candidates, ours.candidates);
  }
  if (theirs != ours) {
    return fail(Errc::kVersionMismatch, "experience shows other things than the network reads");
  }
  if (const auto unknown = graphs.missing(observations.graphs()); !unknown.empty()) {
    return fail(Errc::kVersionMismatch,
                "experience names " + std::to_string(unknown.size()) + " unknown graphs");
  }
  return {};
}

}  // namespace

Result<void> fits(const Unrolls& unrolls, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  return fits(unrolls.observations, shape, graphs);
}

Result<void> fits(const Transitions& transitions, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  return fits(transitions.observations, shape, graphs);
}

}  // namespace pacml::learner
