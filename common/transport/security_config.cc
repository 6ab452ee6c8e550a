#include "common/transport/security_config.h"

#include "common/transport/allow_list.h"

namespace pacml::transport {

std::vector<std::string> validate(const SecurityConfig& config) {
  if (is_client_name(config.client)) return {};
  return {"client must be a name, as `pacml keygen --client` takes it"};
}

}  // namespace pacml::transport
