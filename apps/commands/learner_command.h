#pragma once

#include <memory>

#include "apps/cli/command.h"
#include "apps/roles/learner_role.h"

namespace pacml::apps {

// `pacml learner`; the caller supplies what needs LibTorch.
[[nodiscard]] std::unique_ptr<Command> make_learner_command(NetworkFactory make_network,
                                                            ReplicaConnector connect);

}  // namespace pacml::apps
