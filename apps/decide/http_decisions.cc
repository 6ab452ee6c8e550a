#include "apps/decide/http_decisions.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/decide/service_events.h"
#include "apps/http/http_access.h"
#include "apps/http/http_server.h"
#include "common/asio.h"
#include "common/clock.h"

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

// Lines that are not empty, without their ends.
std::vector<std::string_view> lines_of(std::string_view body) {
  std::vector<std::string_view> lines;
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Requests whose lines are answered, one request after the other, some lines at a time: in between,
// `io` does what else there is to do. As many wait as the server has connections.
class Questions {
 public:
  Questions(asio::io_context& io, const LineCallbacks& callbacks, std::chrono::milliseconds turn)
      : io_(&io), callbacks_(&callbacks), turn_(turn) {}

  void add(std::string body, HttpReplier reply) {
    auto request = std::make_unique<Request>();
    request->body = std::move(body);
    request->lines = lines_of(request->body);
    const std::size_t lines = request->lines.size();
    if (lines == 0) return reply(refusal(400, "there is no line to answer"));
    if (lines > HttpDecisions::kMostLines) {
      return reply(refusal(413, "a request has at most " +
                                    std::to_string(HttpDecisions::kMostLines) + " lines, not " +
                                    std::to_string(lines)));
    }
    request->reply = std::move(reply);
    waiting_.push_back(std::move(request));
    if (waiting_.size() == 1) answer();
  }

 private:
  struct Request {
    std::string body;
    std::vector<std::string_view> lines;  // in it
    std::size_t answered = 0;
    std::string answers;
    HttpReplier reply;
  };

  // Pre: somebody waits.
  void answer() {
    const Deadline end = Deadline::in(turn_);
    Request& request = *waiting_.front();
    HttpReply reply{.type = kLines, .body = {}};
    try {
      do {
        request.answers += callbacks_->answer(request.lines[request.answered++]) + "\n";
      } while (request.answered < request.lines.size() && !end.expired());
    } catch (const std::exception& error) {
      spdlog::error("a question could not be answered: {}", error.what());
      reply = refusal(500, "this question cannot be answered; the log says why");
    }
    if (reply.status != 200 || request.answered == request.lines.size()) {
      if (reply.status == 200) reply.body = std::move(request.answers);
      const auto done = std::move(waiting_.front());
      waiting_.pop_front();
      done->reply(std::move(reply));
    }
    if (!waiting_.empty()) asio::post(*io_, [this] { answer(); });
  }

  asio::io_context* io_;
  const LineCallbacks* callbacks_;
  std::chrono::milliseconds turn_;
  std::deque<std::unique_ptr<Request>> waiting_;
};

}  // namespace

struct HttpDecisions::Impl {
  Impl(LineCallbacks c, std::chrono::milliseconds t)
      : callbacks(std::move(c)), events(callbacks.prepare, callbacks.take_over), turn(t) {}

  // What is answered at once; nothing: these are questions.
  [[nodiscard]] static std::optional<HttpReply> answer(const HttpRequest& request,
                                                       const HttpAccess& access) {
    if (auto refused = access.refuse_host(request)) return refused;
    if (request.path == "/healthz") {
      if (request.method == HttpMethod::kGet) return HttpReply{.body = "ok\n"};
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
    if (auto refused = access.refuse_reader(request)) return refused;
    if (!is_json(request.type)) {
      return refusal(415,
                     std::string("the content type of questions is application/json or ") + kLines);
    }
    return std::nullopt;
  }

  LineCallbacks callbacks;
  ServiceEvents events;
  std::chrono::milliseconds turn;
};

HttpDecisions::HttpDecisions(LineCallbacks callbacks, std::chrono::milliseconds turn)
    : impl_(std::make_unique<Impl>(std::move(callbacks), turn)) {}
HttpDecisions::~HttpDecisions() = default;

void HttpDecisions::serve(const HttpSettings& settings,
                          const std::function<void(const std::string& address)>& listening) {
  asio::io_context io;
  const HttpAccess access(settings.token);
  HttpLimits limits;
  limits.body_bytes = kLongestLine;
  Questions questions(io, impl_->callbacks, impl_->turn);
  const HttpServer server(
      io, settings,
      [&](const HttpRequest& request, const HttpCounters& /*counters*/, HttpReplier reply) {
        if (auto at_once = Impl::answer(request, access)) return reply(*std::move(at_once));
        questions.add(request.body, std::move(reply));
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
  events.leave();
}

}  // namespace pacml::apps
