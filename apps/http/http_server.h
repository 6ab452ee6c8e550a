#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "apps/http/http_message.h"
#include "apps/http/http_settings.h"

namespace boost::asio {
class io_context;
}

namespace pacml::apps {

struct HttpLimits {
  std::size_t connections = 32;
  std::size_t request_bytes = std::size_t{8} * 1024;  // of a request's line and headers
  std::size_t body_bytes = 0;                         // of what a POST brings; 0: there is no POST
  std::chrono::milliseconds patience{
      10'000};  // for a request's headers to come, for what it brings, and for its answer to go,
  // beside the time that it takes over a line of so many bytes a second.
  std::size_t slow_line = std::size_t{256} << 10;
};

// Serves GET and HEAD over HTTP/1.1, without bodies, and POST where the limits say so, on the
// thread that runs `io`: a few small pages for a person, a probe or a scraper. Bounded in
// everything that a client decides: of too many connections, the one that has said nothing for the
// longest is cut, unless it waits for its reply; one that is slow is cut (`patience`,
// `slow_line`); no client's bytes throw. Thread-confined to the thread that runs `io`.
class HttpServer {
 public:
  // Listens from now on, answers while `io` runs; `handler` must not wait. UserError: cannot listen
  // there.
  HttpServer(boost::asio::io_context& io, const HttpSettings& settings, HttpHandler handler,
             const HttpLimits& limits = {});
  // The same for what takes long to reply. At most limits.connections requests are without their
  // reply; what holds a replier has to go before `io` does.
  HttpServer(boost::asio::io_context& io, const HttpSettings& settings, HttpLateHandler handler,
             const HttpLimits& limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Where it listens, with the port that was chosen: "127.0.0.1:9100".
  [[nodiscard]] std::string address() const;
  [[nodiscard]] const HttpCounters& counters() const;
  // Closes everything, which lets `io.run()` return.
  void stop();

 private:
  class State;
  class Connection;
  std::shared_ptr<State> state_;
};

// UserError: a server could not listen there now. For asking before long work.
void check_listenable(const HttpSettings& settings);

}  // namespace pacml::apps
