#pragma once

#include "common/transport/endpoint.h"

namespace pacml::apps {

// Where a learner announces weights, given where it talks to actors: the next port, or the path
// with
// "-weights" at its end. Pre: a tcp port is a number below 65535 (UserError).
[[nodiscard]] transport::Endpoint announcement_endpoint(const transport::Endpoint& actors);

}  // namespace pacml::apps
