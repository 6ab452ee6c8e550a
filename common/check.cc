#include "common/check.h"

#include <cstdio>
#include <cstdlib>

namespace pacml {

void check_failed(const char* expr, const char* file, int line, std::string_view why) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, expr,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace pacml
