#include "apps/http/http_server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <string_view>
#include <utility>

#include "common/asio.h"
//
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "common/result.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptAgain{100};  // where the system has no socket to spare
// How long, and how much, we go on reading from a client that is refused: a connection that is
// closed with bytes unread takes the answer with it.
constexpr std::chrono::seconds kLinger{2};
constexpr std::size_t kMostLingering = std::size_t{64} << 10;

// Listening, or why not.
error_code listen(tcp::acceptor& acceptor, const HttpSettings& settings) {
  error_code error;
  const tcp::endpoint endpoint(asio::ip::make_address(settings.host, error), settings.port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  return error;
}

std::string text_of(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

void listen_or_refuse(tcp::acceptor& acceptor, const HttpSettings& settings) {
  if (const error_code error = listen(acceptor, settings)) {
    throw_system_error("--http: cannot listen at " + text_of(settings.host, settings.port),
                       error.value());
  }
}

HttpReply plain(unsigned status, const std::string& sentence) {
  return {.status = status, .body = sentence + "\n"};
}

// Of the HTTP that came, not of the connection.
bool is_malformed(const error_code& error) {
  return error && error.category() == make_error_code(http::error::bad_method).category();
}

}  // namespace

// What the connections share. Lives as long as an operation of one is under way.
class HttpServer::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, const HttpSettings& settings, HttpLateHandler handler,
        const HttpLimits& given)
      : limits(given), handler_(std::move(handler)), acceptor_(io), retry_(io) {
    listen_or_refuse(acceptor_, settings);
  }

  void accept();
  void stop();
  void answer(const HttpRequest& request, const HttpReplier& reply);
  [[nodiscard]] std::string address() const {
    const auto endpoint = acceptor_.local_endpoint();
    return text_of(endpoint.address().to_string(), endpoint.port());
  }

  HttpLimits limits;
  HttpCounters counters;
  std::list<Connection*> connections;  // who has said nothing for the longest comes first

 private:
  // For another connection; false: all of them wait for replies.
  bool make_room();

  HttpLateHandler handler_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
};

// One client. Owned by the operation that is under way, or by who is to reply: there is always one,
// and one at a time.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket&& socket, std::shared_ptr<State> state)
      : state_(std::move(state)),
        stream_(std::move(socket)),
        buffer_(state_->limits.request_bytes) {
    place_ = state_->connections.insert(state_->connections.end(), this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { leave(); }

  void read() {
    if (!place_) return;  // cut
    state_->connections.splice(state_->connections.end(), state_->connections, *place_);
    request_.emplace();
    request_->header_limit(static_cast<std::uint32_t>(state_->limits.request_bytes));
    // Where no body is taken, respond() refuses it, whatever its length; Beast takes "no limit"
    // for 0.
    request_->body_limit(takes_bodies() ? state_->limits.body_bytes
                                        : std::numeric_limits<std::uint64_t>::max());
    stream_.expires_after(state_->limits.patience);
    http::async_read_header(
        stream_, buffer_, *request_,
        [self = shared_from_this()](error_code error, std::size_t) { self->received(error); });
  }

  // Ends what is under way, and with it the connection.
  void cut() {
    ++state_->counters.connections_cut;
    close();
  }
  void close() {
    leave();
    stream_.close();
  }
  [[nodiscard]] bool waits_for_reply() const { return waits_for_reply_; }

 private:
  [[nodiscard]] bool takes_bodies() const { return state_->limits.body_bytes > 0; }

  void leave() {
    if (place_) state_->connections.erase(*std::exchange(place_, std::nullopt));
  }

  void received(error_code error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return refuse(431, "a request has at most " + std::to_string(state_->limits.request_bytes) +
                             " bytes of headers");
    }
    if (failed(error)) return;
    respond();
  }

  // Whether that is all that comes of what was being read.
  bool failed(error_code error) {
    if (!error) return false;
    // Else the client has gone, perhaps in the middle of a request.
    if (error == beast::error::timeout) {
      const bool only_idle = answered_ && !request_->got_some() && buffer_.size() == 0;
      only_idle ? close() : cut();
    } else if (error == http::error::body_limit) {
      refuse(413, "a request brings at most " + std::to_string(state_->limits.body_bytes) +
                      " bytes along");
    } else if (error != http::error::end_of_stream && error != http::error::partial_message &&
               is_malformed(error)) {
      refuse(400, "this is no HTTP request");
    }
    return true;
  }

  void respond() {
    const auto& request = request_->get();
    // Nothing tells where such a body ends: read as none, its bytes would be requests of their own,
    // which a proxy before us has not seen.
    if (request.count(http::field::transfer_encoding) > 0 && !request_->chunked()) {
      return refuse(400, "a body comes with its length, or in chunks");
    }
    // Whoever is before us may have gone by the other one.
    if (request.count(http::field::host) > 1) return refuse(400, "a request names its host once");
    const bool brings_body = request_->chunked() || request_->content_length().value_or(0) > 0;
    const bool head = request.method() == http::verb::head;
    const bool post = request.method() == http::verb::post && takes_bodies();
    if (!head && !post && request.method() != http::verb::get) {
      auto reply = plain(
          405, takes_bodies() ? "there is GET, HEAD and POST here" : "there is GET and HEAD here");
      if (takes_bodies()) reply.allow = "GET, HEAD, POST";
      return send(reply, request.keep_alive() && !brings_body, false);
    }
    if (brings_body && !post) return refuse(400, "a request has no body here");
    if (request.version() >= 11 && request.find(http::field::host) == request.end()) {
      return refuse(400, "a request names its host");
    }
    if (!post) return answer();
    if (beast::iequals(request[http::field::expect], "100-continue")) return ask_for_body();
    read_body();
  }

  // The client wants to be told that its body is welcome before it sends it.
  void ask_for_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!self->failed(error)) self->read_body();
                      });
  }
  void read_body() {
    // Before its headers came, the client may have been silent for as long as it may.
    stream_.expires_after(state_->limits.patience);
    http::async_read(stream_, buffer_, *request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!self->failed(error)) self->answer();
                     });
  }

  void answer() {
    auto& request = request_->get();
    std::string target(request.target());
    target.resize(std::min(target.find('?'), target.size()));
    HttpRequest asked{std::move(target), std::string(request[http::field::authorization]),
                      std::string(request[http::field::host])};
    if (request.method() == http::verb::post) {
      asked.method = HttpMethod::kPost;
      asked.type = std::string(request[http::field::content_type]);
      asked.body = std::move(request.body());
    }
    waits_for_reply_ = true;
    state_->answer(asked, [self = shared_from_this(), keep_alive = request.keep_alive(),
                           head = request.method() == http::verb::head](HttpReply reply) {
      self->waits_for_reply_ = false;
      if (self->place_) self->send(std::move(reply), keep_alive, head);
    });
  }

  void refuse(unsigned status, const std::string& sentence) {
    ++state_->counters.malformed;
    send(plain(status, sentence), false, false);
  }

  void send(HttpReply reply, bool keep_alive, bool head) {
    ++state_->counters.requests;
    if (reply.status == 401) ++state_->counters.unauthorized;
    response_ = {};
    response_.version(11);
    response_.result(reply.status);
    response_.set(http::field::content_type, reply.type);
    response_.set(http::field::cache_control, "no-store");
    // What is shown belongs into no page of somebody else's, and is what it says it is.
    response_.set("X-Frame-Options", "DENY");
    response_.set("X-Content-Type-Options", "nosniff");
    if (reply.status == 401) response_.set(http::field::www_authenticate, "Bearer");
    if (reply.status == 405) response_.set(http::field::allow, reply.allow);
    response_.keep_alive(keep_alive);
    const std::size_t reply_bytes = head ? 0 : reply.body.size();
    response_.content_length(reply.body.size());
    if (!head) response_.body() = std::move(reply.body);
    // An episode's megabytes may go over a slow line.
    stream_.expires_after(state_->limits.patience +
                          std::chrono::seconds(reply_bytes / state_->limits.slow_line));
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
                        if (error == beast::error::timeout) return self->cut();
                        if (error) return;
                        self->answered_ = true;
                        if (keep_alive) return self->read();
                        self->part();
                      });
  }

  // Says that no more comes, and hears the client out.
  void part() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
    buffer_.clear();
    hear_out(kMostLingering);
  }
  void hear_out(std::size_t left) {
    stream_.async_read_some(buffer_.prepare(buffer_.max_size()),
                            [self = shared_from_this(), left](error_code error, std::size_t got) {
                              if (!error && got < left) self->hear_out(left - got);
                            });
  }

  std::shared_ptr<State> state_;
  std::optional<std::list<Connection*>::iterator> place_;  // none: cut
  bool waits_for_reply_ = false;
  bool answered_ = false;  // a request at least
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> request_;
  http::response<http::string_body> response_;
};

void HttpServer::State::accept() {
  acceptor_.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
    if (!self->acceptor_.is_open()) return;
    if (error) {
      self->retry_.expires_after(kAcceptAgain);
      self->retry_.async_wait([self](error_code stopped) {
        if (!stopped) self->accept();
      });
      return;
    }
    if (self->make_room()) std::make_shared<Connection>(std::move(socket), self)->read();
    self->accept();
  });
}

bool HttpServer::State::make_room() {
  if (connections.size() < limits.connections) return true;
  const auto idle = std::ranges::find_if(
      connections, [](const Connection* client) { return !client->waits_for_reply(); });
  if (idle == connections.end()) {
    ++counters.connections_cut;
    return false;
  }
  (*idle)->cut();
  return true;
}

void HttpServer::State::stop() {
  error_code ignored;
  acceptor_.close(ignored);
  retry_.cancel();
  while (!connections.empty()) connections.front()->close();
}

// A failure of ours is an answer, too: what a client asks for must not end the process.
void HttpServer::State::answer(const HttpRequest& request, const HttpReplier& reply) {
  try {
    handler_(request, counters, reply);
  } catch (const std::exception& error) {
    spdlog::error("{} could not be answered: {}", request.path, error.what());
    reply(plain(500, "this page cannot be made; the log says why"));
  }
}

HttpServer::HttpServer(asio::io_context& io, const HttpSettings& settings, HttpHandler handler,
                       const HttpLimits& limits)
    : HttpServer(
          io, settings,
          [handler = std::move(handler)](const HttpRequest& request, const HttpCounters& counters,
                                         const HttpReplier& reply) {
            reply(handler(request, counters));
          },
          limits) {}

HttpServer::HttpServer(asio::io_context& io, const HttpSettings& settings, HttpLateHandler handler,
                       const HttpLimits& limits)
    : state_(std::make_shared<State>(io, settings, std::move(handler), limits)) {
  state_->accept();
}

HttpServer::~HttpServer() { stop(); }

std::string HttpServer::address() const { return state_->address(); }

const HttpCounters& HttpServer::counters() const { return state_->counters; }

void HttpServer::stop() { state_->stop(); }

void check_listenable(const HttpSettings& settings) {
  asio::io_context io;
  tcp::acceptor acceptor(io);
  listen_or_refuse(acceptor, settings);
}

}  // namespace pacml::apps
