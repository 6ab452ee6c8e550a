#pragma once

#include <string>

#include "common/result.h"

namespace pacml::env {

// What is wrong with a model as a whole, or with a tensor of it; OnnxCall::refuse: with a node.
[[noreturn]] inline void refuse_model(const std::string& source, const std::string& what) {
  throw UserError(source + ": " + what);
}

}  // namespace pacml::env
