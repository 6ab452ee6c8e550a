#include "apps/roles/encryption.h"

#include "common/transport/allow_list.h"
#include "common/transport/key_files.h"

namespace pacml::apps {

std::optional<transport::Encryption> encryption_of(const transport::SecurityConfig& config,
                                                   Party party) {
  if (config.keys.empty()) return std::nullopt;
  return party == Party::kServer ? transport::server_encryption(config.keys)
                                 : transport::client_encryption(config.keys, config.client);
}

void check_keys(const transport::SecurityConfig& config) {
  if (const auto server = encryption_of(config, Party::kServer)) {
    static_cast<void>(transport::AllowListFile(server->allowed_clients));
    static_cast<void>(encryption_of(config, Party::kClient));
  }
}

}  // namespace pacml::apps
