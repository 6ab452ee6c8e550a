#pragma once

#include <string>

#include "env/placement/placement_simulator.h"
#include "env/timeline.h"

// What a simulated execution looks like, for people. Pure.

namespace pacml::apps {

// A line a device: over the time from the begin to the end, in `columns` pieces, how much of each
// it computes (blank, '.', ':', '+', '#' for a quarter each); then its share of busy time and its
// memory at most. A newline after each.
[[nodiscard]] std::string timeline_text(env::PlacementSimulator& run, int columns);

// The same execution as data: a lane for each device, and one for what it sends; microseconds.
[[nodiscard]] env::Timeline timeline_of(const env::PlacementSimulator& run);

}  // namespace pacml::apps
