#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "env/timeline.h"

// Timelines for people. Pure.

namespace pacml::apps {

// Of each lane, how much of the time it is busy, in [0, 1]: spans that overlap count once.
[[nodiscard]] std::vector<double> busy_shares(const env::Timeline& timeline);

// Of each lane a bar from begin to end, in `columns` pieces, how much of each it is busy: blank,
// '.', ':', '+', '#' for a quarter each, between '|'.
[[nodiscard]] std::vector<std::string> busy_bars(const env::Timeline& timeline, int columns);

// Title, end, and a line a lane: name, bar, share of busy time. Ends with a newline.
[[nodiscard]] std::string to_text(const env::Timeline& timeline, int columns = 60);

// In Chrome's trace event format, for chrome://tracing and ui.perfetto.dev: a process a group, a
// thread a lane, and further ones where spans of a lane overlap; microseconds.
[[nodiscard]] nlohmann::json chrome_trace(const env::Timeline& timeline);

}  // namespace pacml::apps
