#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/http/http_settings.h"
#include "apps/http/role_report.h"
#include "apps/http/status_pages.h"
#include "apps/process/life_line.h"
#include "common/clock.h"

namespace pacml::apps {

struct RoleThread {
  std::string name;
  std::function<void(const std::stop_token&)> body;
};

// What a role shows of itself.
struct RolePages {
  std::optional<HttpSettings> http;  // over HTTP; none: nothing
  ReportRole report;                 // thread-safe
  FurtherPages further{};            // called by the thread that serves them
  Duration silence{0};               // of a thread, after which it hangs; 0: none ever does
  LifeLine* life_line = nullptr;     // to whoever started us; told when signals are listened to
};

// Runs a role's threads, at least one, and its control plane on this one: SIGTERM and SIGINT stop
// them, SIGUSR1 calls `checkpoint` (which must be thread-safe; none: ignored), `pages` are served
// until all have ended, and the first one to end, however it ends, ends all. Each thread, and this
// one, has a heartbeat (common/heartbeat.h). Rethrows the first failure. UserError: the pages'
// address cannot be had.
void run_role_threads(const std::vector<RoleThread>& roles, std::function<void()> checkpoint = {},
                      const RolePages& pages = {});

}  // namespace pacml::apps
