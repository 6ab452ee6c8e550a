#include "apps/roles/learner_sockets.h"

#include "apps/roles/endpoints.h"
#include "common/result.h"

namespace pacml::apps {

LearnerSockets bind_learner(transport::Context& context, const transport::Endpoint& endpoint,
                            const transport::SocketConfig& config) {
  constexpr int kMostTries = 16;
  for (int left = endpoint.port() == "*" ? kMostTries : 1;; --left) {
    LearnerSockets sockets;
    sockets.router = std::make_unique<transport::Router>(context, endpoint, config);
    try {
      sockets.publisher = std::make_unique<transport::Publisher>(
          context, announcement_endpoint(sockets.router->endpoint()), config);
      return sockets;
    } catch (const UserError&) {
      if (left == 1) throw;
    }
  }
}

}  // namespace pacml::apps
