#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "env/placement/placement_simulator.h"

// What a simulated execution looks like, for people. Pure.

namespace pacml::apps {

// A line a device: over the time from the begin to the end, in `columns` pieces, how much of each
// it computes (blank, '.', ':', '+', '#' for a quarter each); then its share of busy time and its
// memory at most. A newline after each.
[[nodiscard]] std::string timeline_text(env::PlacementSimulator& run, int columns);

// The same execution in Chrome's trace event format, for chrome://tracing and ui.perfetto.dev: a
// process of threads that are devices, one of channels between them; microseconds.
[[nodiscard]] nlohmann::json chrome_trace(const env::PlacementSimulator& run);

}  // namespace pacml::apps
