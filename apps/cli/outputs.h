#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "apps/cli/options.h"

namespace pacml::apps {

// Before a command runs, after its words are parsed: the files that it is asked to write can be
// written, and none of them is a file that its words, or the configuration or the run that they
// name, ask it to read, or that it is to write as something else, by whatever name. Devices and
// pipes may be named twice. `refuse` (where it is given) may throw for files that nobody may
// overwrite. UserError: one sentence with the option or the file.
void check_outputs(const Options& options,
                   const std::function<void(const std::filesystem::path&, Writes)>& refuse);

}  // namespace pacml::apps
