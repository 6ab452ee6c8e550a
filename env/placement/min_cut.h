#pragma once

#include "env/placement/placement_heuristics.h"

namespace pacml::env {

// Pieces of about equal work, by the devices' speeds, between which as few bytes as possible go:
// METIS' multilevel bisection (Karypis and Kumar 1998, SIAM J. Sci. Comput. 20), again and again
// until each device has its piece. It knows nothing of what waits for what, nor of memory. A
// function of the problem alone; one thread at a time, others wait. While it works METIS has
// handlers of its own on SIGTERM and SIGABRT: not for processes that must mind a signal.
[[nodiscard]] GroupPlacement place_by_min_cut(const PlacementProblem& problem);

}  // namespace pacml::env
