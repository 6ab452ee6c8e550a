#include "apps/decide/http_decisions.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "apps/decide/service_events.h"
#include "apps/http/http_access.h"
#include "apps/http/http_server.h"
#include "common/asio.h"

namespace pacml::apps {
namespace {

constexpr const char* kPath = "/v1/decisions";
constexpr const char* kLines = "application/x-ndjson";

HttpReply refusal(unsigned status, const std::string& sentence) {
  return {.status = status, .body = sentence + "\n"};
}

// A page of somebody else's, open in a browser of this machine, may send forms and plain text
// anywhere without being asked; not JSON.
bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  std::string name(type);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name == "application/json" || name == kLines;
}

// Calls `act` whenever there is something to read, which `act` takes.
template <class Act>
void watch(asio::posix::stream_descriptor& descriptor, Act act) {
  descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                        [&descriptor, act](const boost::system::error_code& error) {
                          if (error) return;
                          act();
                          watch(descriptor, act);
                        });
}

}  // namespace

struct HttpDecisions::Impl {
  explicit Impl(LineCallbacks c)
      : callbacks(std::move(c)), events(callbacks.prepare, callbacks.take_over) {}

  [[nodiscard]] HttpReply answer(const HttpRequest& request, const HttpAccess& access) const {
    if (auto refused = access.refuse_host(request)) return *std::move(refused);
    if (request.path == "/healthz") {
      if (request.method == HttpMethod::kGet) return {.body = "ok\n"};
      HttpReply reply = refusal(405, "/healthz is read");
      reply.allow = "GET, HEAD";
      return reply;
    }
    if (request.path != kPath) {
      return refusal(404, std::string("there is ") + kPath + " and /healthz");
    }
    if (request.method != HttpMethod::kPost) {
      HttpReply reply = refusal(405, "questions are posted");
      reply.allow = "POST";
      return reply;
    }
    if (auto refused = access.refuse_reader(request)) return *std::move(refused);
    if (!is_json(request.type)) {
      return refusal(415,
                     std::string("the content type of questions is application/json or ") + kLines);
    }
    return answers_to(request.body);
  }

  [[nodiscard]] HttpReply answers_to(std::string_view body) const {
    std::vector<std::string_view> lines;
    while (!body.empty()) {
      const auto end = std::min(body.find('\n'), body.size());
      std::string_view line = body.substr(0, end);
      body.remove_prefix(std::min(end + 1, body.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) lines.push_back(line);
    }
    if (lines.empty()) return refusal(400, "there is no line to answer");
    // Others wait meanwhile.
    if (lines.size() > kMostLines) {
      return refusal(413, "a request has at most " + std::to_string(kMostLines) + " lines, not " +
                              std::to_string(lines.size()));
    }
    HttpReply reply{.type = kLines, .body = {}};
    for (const std::string_view line : lines) reply.body += callbacks.answer(line) + "\n";
    return reply;
  }

  LineCallbacks callbacks;
  ServiceEvents events;
};

HttpDecisions::HttpDecisions(LineCallbacks callbacks)
    : impl_(std::make_unique<Impl>(std::move(callbacks))) {}
HttpDecisions::~HttpDecisions() = default;

void HttpDecisions::serve(const HttpSettings& settings,
                          const std::function<void(const std::string& address)>& listening) {
  asio::io_context io;
  const HttpAccess access(settings.token);
  HttpLimits limits;
  limits.body_bytes = kLongestLine;
  const HttpServer server(
      io, settings,
      [&](const HttpRequest& request, const HttpCounters& /*counters*/) {
        return impl_->answer(request, access);
      },
      limits);
  ServiceEvents& events = impl_->events;
  asio::posix::stream_descriptor signals(io, events.signals());
  asio::posix::stream_descriptor prepared(io, events.prepared());
  watch(signals, [&] {
    if (events.take_signals()) io.stop();
  });
  watch(prepared, [&] { events.take_over(); });
  listening(server.address());
  io.run();
  // They are the events'.
  signals.release();
  prepared.release();
}

}  // namespace pacml::apps
