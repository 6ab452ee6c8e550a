#pragma once

#include <functional>
#include <memory>

#include "apps/cli/command.h"

namespace pacml::apps {

// `pacml version`. `more`: says what computes; the exit code.
[[nodiscard]] std::unique_ptr<Command> make_version_command(std::function<int()> more);

}  // namespace pacml::apps
