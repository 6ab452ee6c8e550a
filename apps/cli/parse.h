#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"

namespace pacml::apps {

// Writes what `arguments` say into the targets of `options`; `title` is "pacml train". Answers the
// help text instead, and writes nothing, where they ask for it. UserError: an unknown option (with
// the nearest name), a missing or extra argument, a value of the wrong kind. Thread-safe.
[[nodiscard]] std::optional<std::string> parse_options(const std::string& title,
                                                       const CommandText& text,
                                                       const Options& options,
                                                       const std::vector<std::string>& arguments);

}  // namespace pacml::apps
