#pragma once

#include <memory>

#include "model/network_config.h"
#include "model/policy.h"

namespace pacml::model {

// Which compilation of the kernel runs. kAuto takes the fastest that this CPU can.
enum class KernelPath { kAuto, kAvx2, kPortable };

// Whether this build and this CPU have the path. True for kAuto and kPortable.
[[nodiscard]] bool is_supported(KernelPath path);

// The acting policy: float32, no LibTorch, one thread. What depends on a graph alone is computed at
// the graph's first use after set_parameters and kept; a decision is then one pass through the
// heads. Its results do not depend on the batch that a decision is part of: each row is computed by
// the same operations in the same order. `evaluate` allocates nothing once it has seen the batch
// size, and where graphs differ from decision to decision, the largest of them. Thread-confined.
//
// Pre of `evaluate`: graphs and parameters were set, and the batch has the shape's widths and known
// graph indices (PACML_CHECK). Pre: is_supported(path) (PACML_CHECK).
[[nodiscard]] std::unique_ptr<Policy> make_fused_policy(const NetworkShape& shape,
                                                        KernelPath path = KernelPath::kAuto);

}  // namespace pacml::model
