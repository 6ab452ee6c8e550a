#pragma once

#include <iosfwd>
#include <string>

#include "apps/launch/launch_request.h"

// Training on Kubernetes: a learner, replay shards and actors as StatefulSets.

namespace pacml::apps {

// Everything that the run needs but its Secrets, as YAML documents for kubectl. UserError: no keys
// where they are needed; a limit, which nothing there would obey. Pure.
[[nodiscard]] std::string make_manifests(const LaunchRequest& request);

// Hands them to kubectl and says to `out` what it answered; the exit code. UserError: kubectl is
// not there, or refuses.
[[nodiscard]] int launch_on_kubernetes(const LaunchRequest& request, std::ostream& out);

}  // namespace pacml::apps
