#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pacml::apps {

// A HEAD is a GET to those who answer.
enum class HttpMethod { kGet, kPost };

struct HttpRequest {
  std::string path;           // without what follows a '?'
  std::string authorization;  // the header; empty: there is none
  std::string host{};         // the header, perhaps with a port; empty: there is none
  HttpMethod method = HttpMethod::kGet;
  std::string type{};  // the header Content-Type of a POST; empty: there is none
  std::string body{};  // of a POST
};

struct HttpReply {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow = "GET, HEAD";  // where `status` is 405: what there is
};

// What an HTTP server has done since it began.
struct HttpCounters {
  std::uint64_t requests = 0;         // that were answered, however
  std::uint64_t unauthorized = 0;     // of these: without the token
  std::uint64_t malformed = 0;        // of these: no HTTP, or more than is taken
  std::uint64_t connections_cut = 0;  // too slow, or one too many
};

using HttpHandler = std::function<HttpReply(const HttpRequest&, const HttpCounters&)>;
// ... that replies when it can: calls `reply` once, on the thread that it was called on.
using HttpReplier = std::function<void(HttpReply)>;
using HttpLateHandler = std::function<void(const HttpRequest&, const HttpCounters&, HttpReplier)>;

}  // namespace pacml::apps
