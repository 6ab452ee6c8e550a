#pragma once

#include <string_view>

namespace pacml {

// Logs the expression, the place and the reason to stderr, then aborts. Defined in check.cc, so
// that this header costs nothing to include.
[[noreturn]] void check_failed(const char* expr, const char* file, int line, std::string_view why);

}  // namespace pacml

// A broken invariant of ours, checked in every build type. Not for what a peer or a user did.
#define PACML_CHECK(expr, why) \
  ((expr) ? static_cast<void>(0) : ::pacml::check_failed(#expr, __FILE__, __LINE__, (why)))
