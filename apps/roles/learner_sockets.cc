#include "apps/roles/learner_sockets.h"

#include <vector>

#include "apps/run/endpoints.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

constexpr int kMostTries = 16;

}  // namespace

LearnerSockets bind_learner(transport::Context& context, const transport::Endpoint& endpoint,
                            const transport::SocketConfig& config) {
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

transport::Endpoint with_chosen_port(const transport::Endpoint& endpoint, std::int64_t above) {
  if (endpoint.kind() != transport::Endpoint::Kind::kTcp || endpoint.port() != "*") return endpoint;
  transport::Context context;
  transport::SocketConfig config;
  config.allow_insecure_bind = true;  // for a moment; whether it may be used is said by who does
  for (int left = kMostTries;; --left) {
    const transport::Router first(context, endpoint, config);
    try {
      std::vector<std::unique_ptr<transport::Router>> others;
      for (std::int64_t k = 1; k <= above; ++k) {
        others.push_back(std::make_unique<transport::Router>(
            context, shard_endpoint(first.endpoint(), k - 2), config));
      }
      return first.endpoint();
    } catch (const UserError&) {
      if (left == 1) throw;
    }
  }
}

}  // namespace pacml::apps
