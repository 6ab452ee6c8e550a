#pragma once

#include <functional>
#include <string>

#include "common/clock.h"
#include "common/serving/status_board.h"

namespace pacml::apps {

// What the pages of a role are made of.
struct RoleReport {
  std::string status;   // a JSON object, as `pacml status` shows it
  bool turning = true;  // its threads have made progress lately
  bool ready = false;   // it can do what the others of a run want of it
};

// Asked by the thread that serves HTTP. Does not wait.
using ReportRole = std::function<RoleReport()>;

// How long a thread may be silent before it counts as stuck.
inline constexpr std::chrono::seconds kStuckAfter{30};

// Of a server that keeps its status on a board, and was started then; ready when the status says
// so under `ready_key`, or, where that is empty, as soon as it serves. Thread-safe.
[[nodiscard]] RoleReport report_of(const serving::StatusBoard& board, TimePoint started,
                                   const std::string& ready_key = {},
                                   const Clock& clock = steady());

}  // namespace pacml::apps
