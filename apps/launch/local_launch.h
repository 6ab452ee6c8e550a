#pragma once

#include <iosfwd>

#include "apps/launch/launch_request.h"

// Training on this machine: what `pacml train` does.

namespace pacml::apps {

void print_local_launch(const LaunchRequest& request, std::ostream& out);

// Becomes `pacml train`; comes back only by an exception.
[[noreturn]] void launch_locally(const LaunchRequest& request);

}  // namespace pacml::apps
