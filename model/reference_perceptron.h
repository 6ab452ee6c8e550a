#pragma once

#include <memory>

#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// head: perceptron of make_reference_policy(): plain loops in double precision, as network_config.h
// writes them.
[[nodiscard]] std::unique_ptr<Policy> make_reference_perceptron(const NetworkShape& shape);

}  // namespace pacml::model
