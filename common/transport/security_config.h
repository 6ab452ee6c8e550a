#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace pacml::transport {

// Whether processes on several hosts know and understand one another alone (docs/security.md).
struct SecurityConfig {
  std::string keys;              // folder that `pacml keygen` made; empty: no encryption
  std::string client = "actor";  // whose key actors use: CLIENT.key there
  bool operator==(const SecurityConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, SecurityConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("keys", c.keys);
  v("client", c.client);
}

[[nodiscard]] std::vector<std::string> validate(const SecurityConfig& config);

}  // namespace pacml::transport
