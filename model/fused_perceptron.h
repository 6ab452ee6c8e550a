#pragma once

#include <memory>

#include "model/kernels/kernel.h"
#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// head: perceptron of make_fused_policy().
[[nodiscard]] std::unique_ptr<Policy> make_fused_perceptron(const NetworkShape& shape,
                                                            const Kernel& kernel);

}  // namespace pacml::model
