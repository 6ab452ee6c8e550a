#pragma once

#include <memory>

#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// head: candidates of make_reference_policy(): plain loops in double precision, as
// network_config.h writes them.
[[nodiscard]] std::unique_ptr<Policy> make_reference_candidates(const NetworkShape& shape);

}  // namespace pacml::model
