#pragma once

#include "apps/decide/line_server.h"
#include "apps/http/http_settings.h"

namespace pacml::apps {

// Answers lines that come as the bodies of HTTP requests (docs/decide.md):
//
//   POST /v1/decisions   lines in, lines out, each answered as LineServer would; those of a
//                        request follow one another
//   GET /healthz         200 while it serves
//
// Everything else is refused with a sentence, and changes nothing: other paths, methods and content
// types, bodies beyond kLongestLine, more than kMostLines lines, a wrong host, no token where there
// is one. Signals are LineServer's. One object a process, made before any thread is.
// Thread-confined.
class HttpDecisions {
 public:
  static constexpr std::size_t kMostLines = 1024;

  explicit HttpDecisions(LineCallbacks callbacks, std::chrono::milliseconds turn = kLongestTurn);
  HttpDecisions(const HttpDecisions&) = delete;
  HttpDecisions& operator=(const HttpDecisions&) = delete;
  ~HttpDecisions();

  // Until a signal ends it, where another model is being prepared with the process
  // (ServiceEvents::leave); what has not been answered whole then never is. `listening`, with the
  // address that was chosen, before the first question. UserError: it cannot listen there.
  void serve(const HttpSettings& settings,
             const std::function<void(const std::string& address)>& listening);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::apps
