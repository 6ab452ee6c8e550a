#pragma once

#include "apps/cli/program.h"

namespace pacml::apps {

// Every task that this program knows, by its name in configurations.
[[nodiscard]] NameList list_of_tasks();

}  // namespace pacml::apps
