#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "apps/evaluation/eval_result.h"

namespace pacml::apps {

// The comparison for people: a line a policy, the best by the objective first, with a column for
// each metric that has a title; then a table for each group of metrics that is ever other than 0.
// Means over the episodes. At the end a sentence says by how much the best policy that was learned
// differs from the best baseline (or else the first policy from the second), and how sure that is,
// where there are two policies and several episodes. Of several trainings of one method a further
// table and sentence say what they come to together. Aligned columns, those that `width` has no
// room for below the others; ends with a newline. Pure.
[[nodiscard]] std::string format_table(const EvalResult& result,
                                       std::size_t width = std::numeric_limits<std::size_t>::max());

}  // namespace pacml::apps
