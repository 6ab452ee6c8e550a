#include "apps/http/http_server.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/served_pages.h"
#include "tests/support/soon.h"

namespace pacml::apps {
namespace {

using namespace std::chrono_literals;
using testing::HttpClient;
using testing::ServedPages;
using testing::wait_until;

// Says what it was asked.
HttpReply echo(const HttpRequest& request, const HttpCounters&) {
  return {200, "text/x-echo", request.path + "|" + request.authorization};
}

HttpLimits impatient() {
  return {.connections = 32, .request_bytes = 8192, .patience = 200ms, .slow_line = 1 << 30};
}

// Waits for what a server counts on its own time.
template <class Condition>
void wait_for_counts(ServedPages& server, Condition holds) {
  wait_until("it is counted", [&] { return holds(server.counters()); });
}

TEST_CASE("a page is answered, without the query, to GET and HEAD", "[unit][http]") {
  ServedPages server(echo);
  HttpClient client(server.address());
  const auto answer = client.get("/page?x=/other", "Authorization: Bearer t\r\n");
  CHECK(answer.result_int() == 200);
  CHECK(answer["content-type"] == "text/x-echo");
  CHECK(answer["cache-control"] == "no-store");
  CHECK(answer.body() == "/page|Bearer t");
  const auto head = client.ask("HEAD", "/page");
  CHECK(head.result_int() == 200);
  CHECK(head["content-length"] == "6");
  CHECK(head.body().empty());
  CHECK(client.get("/more").body() == "/more|");  // nothing of HEAD's is left in between
}

TEST_CASE("a connection carries many requests, also ahead of their answers", "[unit][http]") {
  ServedPages server(echo);
  HttpClient client(server.address());
  std::string requests;
  for (const std::string& page : std::vector<std::string>{"a", "b", "c"}) {
    requests += "GET /" + page + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  REQUIRE(client.say(requests));
  for (const std::string& page : std::vector<std::string>{"a", "b", "c"})
    CHECK(client.hear()->body() == "/" + page + "|");
  CHECK(server.counters().requests == 3);
}

TEST_CASE("a client that wants to close is let go", "[unit][http]") {
  ServedPages server(echo);
  HttpClient old(server.address());
  REQUIRE(old.say("GET / HTTP/1.0\r\n\r\n"));
  CHECK(old.hear()->result_int() == 200);
  CHECK(old.is_closed_soon());
  HttpClient client(server.address());
  client.get("/", "Connection: close\r\n");
  CHECK(client.is_closed_soon());
}

TEST_CASE("what is neither GET nor HEAD is told so, with or without a body", "[unit][http]") {
  ServedPages server(echo);
  HttpClient client(server.address());
  for (const char* method : {"DELETE", "OPTIONS", "TRACE", "BREW"}) {
    INFO(method);
    const auto answer = client.ask(method, "/");
    CHECK(answer.result_int() == 405);
    CHECK(answer["allow"] == "GET, HEAD");
  }
  for (const char* body : {"Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3"}) {
    HttpClient poster(server.address());
    REQUIRE(poster.say(std::string("POST / HTTP/1.1\r\nHost: x\r\n") + body));
    CHECK(poster.hear()->result_int() == 405);
    CHECK(poster.is_closed_soon());  // who knows where the body ends
  }
}

TEST_CASE("what is no request is refused, counted, and the connection closed", "[unit][http]") {
  ServedPages server(echo);
  std::uint64_t refused = 0;
  for (const auto& request : std::vector<std::string>{
           "\r\n\r\n\r\n", "hello\r\n\r\n", "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
           "GET /\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost x\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
           "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
           "DELETE / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.1\r\nA\x01: x\r\n\r\n"}) {
    INFO(request);
    HttpClient client(server.address());
    REQUIRE(client.say(request));
    const auto answer = client.hear();
    REQUIRE(answer);
    CHECK(answer->result_int() == 400);
    CHECK(client.is_closed_soon());
    CHECK(server.counters().malformed == ++refused);
  }
  CHECK(testing::http_get(server.address(), "/").result_int() == 200);
}

TEST_CASE("a body whose end nobody tells is no second request", "[unit][http]") {
  HttpLimits with_bodies;
  with_bodies.body_bytes = 1'000;
  const bool takes_bodies = GENERATE(false, true);
  ServedPages server(echo, takes_bodies ? with_bodies : HttpLimits{});
  std::uint64_t asked = 0;
  for (const std::string& method : std::vector<std::string>{"GET", "HEAD", "POST", "DELETE"}) {
    for (const std::string& coding : std::vector<std::string>{
             "gzip", "identity", "", "chunked, gzip", "xchunked", "gzip\r\nContent-Length: 3"}) {
      INFO(method << " " << coding << ", bodies are taken: " << takes_bodies);
      HttpClient client(server.address());
      REQUIRE(client.say(method + " / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding +
                         "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"));
      const auto answer = client.hear();
      REQUIRE(answer);
      CHECK(answer->result_int() == 400);
      CHECK(client.is_closed_soon());
      CHECK(server.counters().requests == ++asked);
    }
  }
}

TEST_CASE("a request that is too long is refused before all of it has come", "[unit][http]") {
  ServedPages server(echo);
  const std::string most(7'900, 'x');
  CHECK(testing::http_get(server.address(), "/" + most).body() == "/" + most + "|");
  const std::string header = "X: " + std::string(200, 'x') + "\r\n";
  for (const auto& request : std::vector<std::string>{
           "GET /" + std::string(100'000, 'x'),
           "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(9'000, 'x') + "\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\n" + [&] {
             std::string headers;
             for (int i = 0; i < 100; ++i) headers += header;
             return headers;
           }()}) {
    HttpClient client(server.address());
    client.say(request);
    const auto answer = client.hear();
    REQUIRE(answer);
    CHECK(answer->result_int() == 431);
    CHECK(client.is_closed_soon());
  }
}

TEST_CASE("a client that is slow to ask is cut, however it drips", "[unit][http]") {
  ServedPages server(echo, impatient());
  HttpClient silent(server.address());
  HttpClient half(server.address());
  REQUIRE(half.say("GET / HTTP/1.1\r\nHo"));
  HttpClient dripping(server.address());
  wait_until("it is cut", [&] { return !dripping.say("X"); });
  CHECK(silent.is_closed_soon());
  CHECK(half.is_closed_soon());
  wait_for_counts(server, [](const HttpCounters& c) { return c.connections_cut == 3; });
}

TEST_CASE("a connection that rests after its answers is closed, and nothing is wrong with it",
          "[unit][http]") {
  // Long enough to ask, on any machine.
  ServedPages server(echo, {.connections = 32, .request_bytes = 8192, .patience = 5s});
  HttpClient client(server.address());
  CHECK(client.get("/").result_int() == 200);
  CHECK(client.is_closed_soon());
  CHECK(server.counters().connections_cut == 0);
}

TEST_CASE("a long answer may take as long as it takes over a slow line", "[unit][http]") {
  constexpr std::size_t kLong = std::size_t{32} << 20;  // more than the system keeps on the way
  HttpLimits limits = impatient();
  limits.slow_line = kLong / 600;
  ServedPages server(
      [](const HttpRequest&, const HttpCounters&) {
        return HttpReply{200, "text/plain", std::string(kLong, 'x')};
      },
      limits);
  // All of the request is there when the server first looks: its patience is for the answer alone.
  std::promise<void> asked;
  server.post([heard = asked.get_future().share()] { heard.wait(); });
  HttpClient client(server.address());
  REQUIRE(client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  asked.set_value();
  std::this_thread::sleep_for(3 * limits.patience);
  const auto answer = client.hear();
  REQUIRE(answer);
  CHECK(answer->body().size() == kLong);
  CHECK(server.counters().connections_cut == 0);
}

TEST_CASE("a client that does not read its answer is cut", "[unit][http]") {
  ServedPages server(
      [](const HttpRequest&, const HttpCounters&) {
        return HttpReply{200, "text/plain", std::string(64 << 20, 'x')};
      },
      impatient());
  HttpClient client(server.address());
  REQUIRE(client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  wait_for_counts(server, [](const HttpCounters& c) { return c.connections_cut == 1; });
}

TEST_CASE("of 40 connections the 8 that were silent for the longest make room", "[unit][http]") {
  ServedPages server(echo, {.connections = 32, .request_bytes = 8192, .patience = 1h});
  std::deque<HttpClient> clients;
  clients.emplace_back(server.address());
  clients[0].get("/");
  for (int i = 1; i < 32; ++i) clients.emplace_back(server.address());
  clients[31].get("/");  // whoever came before has been let in by now
  clients[0].get("/");   // no longer the one that is silent for the longest
  for (int i = 32; i < 40; ++i) clients.emplace_back(server.address());
  CHECK(clients.back().get("/").result_int() == 200);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    INFO(i);
    if (i >= 1 && i <= 8) {
      CHECK(clients[i].is_closed_soon());
    } else {
      CHECK(clients[i].get("/").result_int() == 200);
    }
  }
  CHECK(server.counters().connections_cut == 8);
}

// Replies when the test says so; by path.
class Late {
 public:
  auto handler() {
    return [this](const HttpRequest& request, const HttpCounters&, HttpReplier reply) {
      if (request.path == "/now") return reply({.body = "now"});
      repliers_[request.path] = std::move(reply);
      ++asked_;
    };
  }
  [[nodiscard]] int asked() const { return asked_; }
  // On the server's thread.
  void reply(const std::string& path) {
    const auto replier = repliers_.extract(path);
    replier.mapped()({.body = "late " + path});
  }

 private:
  std::map<std::string, HttpReplier> repliers_;
  std::atomic<int> asked_ = 0;
};

TEST_CASE("others are answered while a reply is made, in any order", "[unit][http]") {
  Late late;
  ServedPages server(late.handler());
  HttpClient first(server.address());
  HttpClient second(server.address());
  REQUIRE(first.say("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"));
  REQUIRE(second.say("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"));
  wait_until("both have asked", [&] { return late.asked() == 2; });
  CHECK(testing::http_get(server.address(), "/now").body() == "now");
  server.post([&] { late.reply("/2"); });
  CHECK(second.hear()->body() == "late /2");
  CHECK(second.get("/now").body() == "now");
  server.post([&] { late.reply("/1"); });
  CHECK(first.hear()->body() == "late /1");
}

TEST_CASE("who waits for a reply is not cut to make room, nor answered once all has stopped",
          "[unit][http]") {
  Late late;
  ServedPages server(late.handler(), {.connections = 2, .request_bytes = 8192, .patience = 1h});
  HttpClient one(server.address());
  REQUIRE(one.say("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"));
  HttpClient idle(server.address());
  idle.get("/now");
  HttpClient two(server.address());  // takes the place of the idle one, not of the older
  CHECK(idle.is_closed_soon());
  REQUIRE(two.say("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"));
  wait_until("both have asked", [&] { return late.asked() == 2; });
  HttpClient third(server.address());
  CHECK(third.is_closed_soon());
  server.post([&] { late.reply("/1"); });
  CHECK(one.hear()->body() == "late /1");
  CHECK(server.counters().connections_cut == 2);
  server.stop();
  CHECK(two.is_closed_soon());
  late.reply("/2");  // to nobody
}

TEST_CASE("a page that fails is an answer, and the server lives on", "[unit][http]") {
  ServedPages server([](const HttpRequest& request, const HttpCounters& counters) -> HttpReply {
    if (request.path == "/bad") throw std::runtime_error("what went wrong");
    return echo(request, counters);
  });
  HttpClient client(server.address());
  const auto answer = client.get("/bad");
  CHECK(answer.result_int() == 500);
  CHECK_THAT(answer.body(), !Catch::Contains("what went wrong"));
  CHECK(client.get("/good").result_int() == 200);
}

TEST_CASE("who is not allowed learns how to be, and is counted", "[unit][http]") {
  ServedPages server([](const HttpRequest&, const HttpCounters&) {
    return HttpReply{401, "text/plain", "no"};
  });
  CHECK(testing::http_get(server.address(), "/")["www-authenticate"] == "Bearer");
  CHECK(server.counters().unauthorized == 1);
  CHECK(server.counters().malformed == 0);
}

TEST_CASE("clients that vanish at any moment leave nothing behind", "[unit][http]") {
  ServedPages server(echo);
  for (int i = 0; i < 100; ++i) {
    HttpClient client(server.address());
    if (i % 4 == 1) client.say("GET / HT");
    if (i % 4 == 2) client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    if (i % 4 == 3) client.say("\xff\xff");
  }
  CHECK(testing::http_get(server.address(), "/").result_int() == 200);
}

TEST_CASE("a server that stops closes what is open and ends its loop", "[unit][http]") {
  ServedPages server(echo, {.connections = 32, .request_bytes = 8192, .patience = 60s});
  HttpClient idle(server.address());
  idle.get("/");
  HttpClient half(server.address());
  half.say("GET /");
  server.stop();  // hangs where something is left to wait for
  CHECK(idle.is_closed_soon());
  CHECK(half.is_closed_soon());
}

TEST_CASE("a port that is taken is named", "[unit][http]") {
  const ServedPages server(echo);
  HttpSettings same;
  same.port = static_cast<std::uint16_t>(
      std::stoi(server.address().substr(server.address().rfind(':') + 1)));
  const auto named =
      Catch::Equals("--http: cannot listen at " + server.address() + ": Address already in use");
  CHECK_THROWS_WITH(check_listenable(same), named);
  asio::io_context io;
  CHECK_THROWS_WITH(HttpServer(io, same, echo), named);
  CHECK_NOTHROW(check_listenable({}));
}

}  // namespace
}  // namespace pacml::apps
