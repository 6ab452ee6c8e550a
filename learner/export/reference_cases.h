#pragma once

#include <string>

#include "learner/export/policy_export.h"

namespace pacml::learner {

// Inputs with the outputs that they must give, as JSON, computed by the reference implementation in
// double precision. One case per call of the exported function; matrices are nested by rows:
//
//   {"tolerance": 1e-5, "cases": [{INPUT: [..], .., "logits": [..], "values": [..]}, ..]}
//
// Cases: one decision on graphs of a single node, several decisions on graphs of different sizes,
// nodes without edges, and the task's own graphs. Pure.
[[nodiscard]] std::string reference_cases(const PolicyExport& policy);

}  // namespace pacml::learner
