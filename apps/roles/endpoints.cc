#include "apps/roles/endpoints.h"

#include <charconv>
#include <string>

#include "common/result.h"

namespace pacml::apps {

transport::Endpoint announcement_endpoint(const transport::Endpoint& actors) {
  if (actors.kind() != transport::Endpoint::Kind::kTcp) {
    return transport::Endpoint::parse(actors.str() + "-weights");
  }
  int port = 0;
  const std::string& text = actors.port();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port >= 65535) {
    throw UserError(actors.str() +
                    ": the port must be a number in 1..65534 (the next one announces weights)");
  }
  const auto colon = actors.str().rfind(':');
  return transport::Endpoint::parse(actors.str().substr(0, colon + 1) + std::to_string(port + 1));
}

void check_replay_addresses(const TrainConfig& config, const std::vector<std::string>& addresses) {
  const std::string algorithm(name_of(config.algorithm));
  if (config.algorithm != AlgorithmKind::kApex) {
    if (addresses.empty()) return;
    throw UserError("--replay: the algorithm " + algorithm + " uses no replay; apex does");
  }
  if (addresses.size() == static_cast<std::size_t>(config.replay.shards)) return;
  throw UserError("--replay: " + std::to_string(addresses.size()) +
                  " addresses, but replay.shards is " + std::to_string(config.replay.shards) +
                  "; name each shard once, in the same order everywhere");
}

}  // namespace pacml::apps
