#pragma once

#include <string>

#include "apps/evaluation/eval_result.h"

namespace pacml::apps {

// The comparison for programs, indented, ending with a newline:
//   {"objective": name,
//    "policies": [{"name", "seeds": [{"seed", "decisions", "return", metric: value, ...}],
//                  metric: {"mean", "ci95"}, ...}]}
// with the metrics of the task by name. NaN is null. Pure.
[[nodiscard]] std::string to_json(const EvalResult& result);

}  // namespace pacml::apps
