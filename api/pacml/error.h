#pragma once

#include <pacml/api.h>

#include <stdexcept>

namespace pacml::api {

// What whoever calls can mend: a file that is not there, a key that is wrong, an action that is not
// valid. what() is one sentence that names it. Nothing has changed, unless a function says
// otherwise. Besides it, functions throw what the standard library does (std::bad_alloc).
class PACML_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pacml::api
