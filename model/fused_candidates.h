#pragma once

#include <memory>

#include "model/kernels/kernel.h"
#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// head: candidates of make_fused_policy(). Borrows `kernel`, which is as lasting as the program.
[[nodiscard]] std::unique_ptr<Policy> make_fused_candidates(const NetworkShape& shape,
                                                            const Kernel& kernel);

}  // namespace pacml::model
