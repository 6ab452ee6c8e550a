#pragma once

#include <optional>
#include <string>

#include "apps/http/http_message.h"

namespace pacml::apps {

// Who may ask. Where there is a token, those who show it; where there is none, only this machine's
// own processes reach the server, and a request that names another host is refused: it comes from
// a page of somebody else's, whose name was made to lead here (DNS rebinding). Immutable.
class HttpAccess {
 public:
  // `token` empty: nobody is asked for one.
  explicit HttpAccess(std::string token);
  // What a request is refused with that names a host which is not this one; none: it may go on.
  [[nodiscard]] std::optional<HttpReply> refuse_host(const HttpRequest& request) const;
  // ... and one that does not show the token.
  [[nodiscard]] std::optional<HttpReply> refuse_reader(const HttpRequest& request) const;

 private:
  std::string token_;
};

}  // namespace pacml::apps
