#pragma once

#include <memory>

#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// The network of network_config.h written down as plain loops in double precision, one decision at
// a time, nothing cached: what the fast implementations are tested against. Slow.
[[nodiscard]] std::unique_ptr<Policy> make_reference_policy(const NetworkShape& shape);

}  // namespace pacml::model
