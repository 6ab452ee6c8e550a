#include "apps/cli/version.h"

#include <pacml/version.h>

#include <string>

namespace pacml::api {

const char* version() {
  static const std::string text = apps::version();
  return text.c_str();
}

}  // namespace pacml::api
