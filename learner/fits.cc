#include "learner/fits.h"

#include <cstdint>
#include <span>
#include <string>

namespace pacml::learner {
namespace {

Result<void> fits(std::uint32_t globals, std::uint32_t actions, std::span<const GraphHash> hashes,
                  const model::NetworkShape& shape, const GraphRegistry& graphs) {
  const auto differs = [](const char* what, std::uint32_t theirs, int ours) {
    return fail(Errc::kVersionMismatch, "experience has " + std::to_string(theirs) + " " + what +
                                            ", the network expects " + std::to_string(ours));
  };
  if (globals != static_cast<std::uint32_t>(shape.globals)) {
    return differs("global features", globals, shape.globals);
  }
  if (actions != static_cast<std::uint32_t>(shape.actions)) {
    return differs("actions", actions, shape.actions);
  }
  if (const auto unknown = graphs.missing(hashes); !unknown.empty()) {
    return fail(Errc::kVersionMismatch,
                "experience names " + std::to_string(unknown.size()) + " unknown graphs");
  }
  return {};
}

}  // namespace

Result<void> fits(const Unrolls& unrolls, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  return fits(unrolls.num_globals, unrolls.num_actions, unrolls.graphs, shape, graphs);
}

Result<void> fits(const Transitions& transitions, const model::NetworkShape& shape,
                  const GraphRegistry& graphs) {
  const TransitionShape& theirs = transitions.shape;
  return fits(theirs.num_globals, theirs.num_actions, transitions.graphs, shape, graphs);
}

}  // namespace pacml::learner
