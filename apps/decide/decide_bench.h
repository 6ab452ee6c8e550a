#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apps/decide/decision_service.h"

namespace pacml::apps {

// How fast a service answers, line in and line out, on one thread: `arrivals` jobs of the workload
// that its policy was trained for arrive when that says, are started as decided, and end when they
// should. As many as a tenth of them, at least 100, go before and are not measured: they fill the
// memory of placements.
struct DecideFigures {
  std::int64_t arrivals = 0;  // measured
  double accepted_share = 0;
  double decisions_per_second = 0;  // over all lines, those on jobs that end included
  double p50_seconds = 0, p99_seconds = 0, most_seconds = 0;  // from line to answer, of arrivals
};
[[nodiscard]] DecideFigures measure_decisions(DecisionService& service, std::int64_t arrivals);

}  // namespace pacml::apps
