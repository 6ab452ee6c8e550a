#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pacml::apps {

// A GET, or a HEAD, which is answered the same.
struct HttpRequest {
  std::string path;           // without what follows a '?'
  std::string authorization;  // the header; empty: there is none
  std::string host{};         // the header, perhaps with a port; empty: there is none
};

struct HttpReply {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

// What an HTTP server has done since it began.
struct HttpCounters {
  std::uint64_t requests = 0;         // that were answered, however
  std::uint64_t unauthorized = 0;     // of these: without the token
  std::uint64_t malformed = 0;        // of these: no HTTP, or more than is taken
  std::uint64_t connections_cut = 0;  // too slow, or one too many
};

using HttpHandler = std::function<HttpReply(const HttpRequest&, const HttpCounters&)>;

}  // namespace pacml::apps
