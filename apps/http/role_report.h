#pragma once

#include <functional>
#include <string>

#include "common/serving/status_board.h"

namespace pacml::apps {

// What the pages of a role are made of.
struct RoleReport {
  std::string status;  // a JSON object, as `pacml status` shows it
  bool ready = false;  // it can do what the others of a run want of it
  std::string hangs;   // which of its threads does; empty: none
};

// Asked by the thread that serves HTTP. Does not wait.
using ReportRole = std::function<RoleReport()>;

// Of a server that keeps its status on a board; ready when the status says so under `ready_key`,
// or, where that is empty, as soon as it serves. Thread-safe.
[[nodiscard]] RoleReport report_of(const serving::StatusBoard& board,
                                   const std::string& ready_key = {});

}  // namespace pacml::apps
