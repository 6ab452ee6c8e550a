#pragma once

#include <cstdint>
#include <memory>

#include "common/transport/context.h"
#include "common/transport/endpoint.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "common/transport/socket_config.h"

namespace pacml::apps {

// Where a learner talks to actors, and where it announces weights: two addresses that go together
// (announcement_endpoint).
struct LearnerSockets {
  std::unique_ptr<transport::Router> router;
  std::unique_ptr<transport::Publisher> publisher;
};

// Binds both. Where the system chooses the port, it chooses again while the next one is taken.
// UserError as the sockets throw it.
[[nodiscard]] LearnerSockets bind_learner(transport::Context& context,
                                          const transport::Endpoint& endpoint,
                                          const transport::SocketConfig& config);

// For whoever must know the port before anybody binds it: where the system may choose it, one that
// is free now, as are the `above` next ones. UserError: no such address.
[[nodiscard]] transport::Endpoint with_chosen_port(const transport::Endpoint& endpoint,
                                                   std::int64_t above);

}  // namespace pacml::apps
