#pragma once

#include <string>

#include "apps/evaluation/eval_result.h"

namespace pacml::apps {

// The comparison for people: a line a policy, lowest blocking rate first; then, where any job was
// blocked, why, as shares of the jobs that arrived. Aligned columns, ends with a newline. Pure.
[[nodiscard]] std::string format_table(const EvalResult& result);

}  // namespace pacml::apps
