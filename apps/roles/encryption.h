#pragma once

#include <optional>

#include "common/transport/curve.h"
#include "common/transport/security_config.h"

namespace pacml::apps {

// What this process is to the others: learners and replay shards are servers, everybody else is a
// client.
enum class Party { kServer, kClient };

// How a process of a run talks, for its transport::Context; nullopt: in the clear, since no keys
// were given. UserError: keys are missing, broken or open to others.
[[nodiscard]] std::optional<transport::Encryption> encryption_of(
    const transport::SecurityConfig& config, Party party);

// For whoever starts the processes of a run on one machine. UserError as above, for either party.
void check_keys(const transport::SecurityConfig& config);

}  // namespace pacml::apps
