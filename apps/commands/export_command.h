#pragma once

#include <memory>

#include "apps/cli/command.h"

namespace pacml::apps {

// `pacml export`: a run's policy as a file for other programs.
[[nodiscard]] std::unique_ptr<Command> make_export_command();

}  // namespace pacml::apps
