#pragma once

#include <string>

#include "common/clock.h"
#include "common/transport/security_config.h"

namespace pacml::apps {

// Asks a learner or a replay shard what it is doing: the text of its answer, a JSON object.
// TryAgainError: nobody answers before the deadline. UserError: who answers does not speak our
// protocol, or does not let us in.
[[nodiscard]] std::string ask_status(const std::string& address,
                                     const transport::SecurityConfig& security, Deadline deadline);

}  // namespace pacml::apps
