#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace pacml::apps {

struct RoleThread {
  std::string name;
  std::function<void(const std::stop_token&)> body;
};

// Runs a role's threads, and its control plane on this one: SIGTERM and SIGINT stop them, SIGUSR1
// calls `checkpoint` (which must be thread-safe; none: ignored), and the first one to end, however
// it ends, ends all. Rethrows the first failure.
void run_role_threads(const std::vector<RoleThread>& roles, std::function<void()> checkpoint = {});

}  // namespace pacml::apps
