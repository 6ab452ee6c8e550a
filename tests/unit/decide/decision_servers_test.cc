#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/decide/http_decisions.h"
#include "apps/decide/line_server.h"
#include "common/file_descriptor.h"
#include "tests/support/catch.h"
#include "tests/support/http_client.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using testing::HttpClient;
using testing::soon;
using testing::wait_until;

// One line, then everything else that there is to do.
constexpr std::chrono::milliseconds kNoTime{0};

// Something that one thread waits for and another brings about.
class Event {
 public:
  void happen() { promise_.set_value(); }
  bool wait() { return future_.wait_until(soon().at()) == std::future_status::ready; }

 private:
  std::promise<void> promise_;
  std::future<void> future_ = promise_.get_future();
};

// What lines are answered with: themselves. Some do something first, on the thread that serves.
class Echo {
 public:
  void on(const std::string& line, std::function<void()> act) { acts_[line] = std::move(act); }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  [[nodiscard]] LineCallbacks callbacks() {
    return {.answer =
                [this](std::string_view line) {
                  {
                    const std::lock_guard lock(mutex_);
                    lines_.emplace_back(line);
                  }
                  if (line == "end") std::raise(SIGTERM);  // for this thread
                  const auto act = acts_.find(std::string(line));
                  if (act != acts_.end()) act->second();
                  return std::string(line);
                },
            .too_long = [] { return std::string("too long"); },
            .prepare = [] {},
            .take_over = [] {}};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::map<std::string, std::function<void()>> acts_;
};

// Where a test has failed before a line said so.
void end(std::thread& serving) {
  if (!serving.joinable()) return;
  // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread): it is what ends a server
  ::pthread_kill(serving.native_handle(), SIGTERM);
  serving.join();
}

std::string repeated(const std::string& line, int times) {
  std::string out;
  for (int n = 0; n < times; ++n) out += line + "\n";
  return out;
}

// A server of HTTP on a thread of its own, until a line says "end".
class HttpServing {
 public:
  explicit HttpServing(Echo& echo)
      : thread_([this, &echo] {
          HttpDecisions server(echo.callbacks(), kNoTime);
          server.serve({}, [this](const std::string& address) { address_.set_value(address); });
        }) {}
  ~HttpServing() { end(thread_); }
  HttpServing(const HttpServing&) = delete;
  HttpServing& operator=(const HttpServing&) = delete;

  [[nodiscard]] std::string address() { return known_.get(); }
  void join() { thread_.join(); }

 private:
  std::promise<std::string> address_;
  std::shared_future<std::string> known_ = address_.get_future().share();
  std::thread thread_;
};

std::string posted(const std::string& body) {
  return "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_CASE("a probe is answered while a request has lines left", "[unit][decide]") {
  Echo echo;
  Event begun;
  Event probed;
  Event answered;
  bool in_between = false;
  echo.on("first", [&] {
    begun.happen();
    probed.wait();
  });
  echo.on("last", [&] { in_between = answered.wait(); });
  HttpServing server(echo);
  HttpClient asker(server.address());
  HttpClient prober(server.address());
  const std::string body = "first\n" + repeated("line", 200) + "last\n";
  REQUIRE(asker.say(posted(body)));
  REQUIRE(begun.wait());
  REQUIRE(prober.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  probed.happen();
  const auto healthy = prober.hear();
  answered.happen();
  const auto answer = asker.hear();
  CHECK(asker.say(posted("end")));
  server.join();
  REQUIRE(healthy);
  CHECK(healthy->body() == "ok\n");
  CHECK(in_between);
  REQUIRE(answer);
  CHECK(answer->body() == body);
}

TEST_CASE("the lines of a request follow one another", "[unit][decide]") {
  Echo echo;
  Event begun;
  Event asked;
  echo.on("first", [&] {
    begun.happen();
    asked.wait();
  });
  HttpServing server(echo);
  HttpClient one(server.address());
  HttpClient other(server.address());
  REQUIRE(one.say(posted("first\n" + repeated("one", 100))));
  REQUIRE(begun.wait());
  REQUIRE(other.say(posted(repeated("other", 100) + "end")));
  asked.happen();
  const auto answer = one.hear();
  server.join();
  REQUIRE(answer);
  CHECK(answer->body() == "first\n" + repeated("one", 100));
  std::vector<std::string> expected{"first"};
  expected.insert(expected.end(), 100, "one");
  expected.insert(expected.end(), 100, "other");
  expected.emplace_back("end");
  CHECK(echo.lines() == expected);
}

TEST_CASE("a signal ends a service of HTTP between two lines", "[unit][decide]") {
  Echo echo;
  HttpServing server(echo);
  HttpClient asker(server.address());
  REQUIRE(asker.say(posted("end\n" + repeated("line", 1000))));
  server.join();
  CHECK_FALSE(asker.hear());
  CHECK(echo.lines().size() < 1000);
}

// A server of a Unix socket on a thread of its own, until a line says "end".
class SocketServing {
 public:
  explicit SocketServing(Echo& echo)
      : thread_([this, &echo] { LineServer(echo.callbacks(), kNoTime).serve_socket(path()); }) {}
  ~SocketServing() { end(thread_); }
  SocketServing(const SocketServing&) = delete;
  SocketServing& operator=(const SocketServing&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "socket").string(); }
  void join() { thread_.join(); }

 private:
  testing::TempDir folder_;
  std::thread thread_;
};

// Whoever connects to it.
class SocketClient {
 public:
  explicit SocketClient(const SocketServing& server) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    server.path().copy(address.sun_path, sizeof address.sun_path - 1);
    wait_until("somebody serves", [&] {
      socket_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      return ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                       sizeof address) == 0;
    });
  }
  void say(const std::string& lines) const {
    REQUIRE(::send(socket_.get(), lines.data(), lines.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(lines.size()));
  }
  // All that a server said that has ended.
  [[nodiscard]] std::string hear() const {
    std::string said;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket_.get(), bytes, sizeof bytes, 0)) > 0;) {
      said.append(bytes, static_cast<std::size_t>(count));
    }
    return said;
  }

 private:
  FileDescriptor socket_;
};

TEST_CASE("a signal ends a service between two lines, which hands out what it has",
          "[unit][decide]") {
  Echo echo;
  SocketServing server(echo);
  const SocketClient client(server);
  client.say("end\n" + repeated("line", 30));
  server.join();
  CHECK(client.hear() == "end\n");
  CHECK(echo.lines() == std::vector<std::string>{"end"});
}

TEST_CASE("whoever asks much does not keep others from their turn", "[unit][decide]") {
  Echo echo;
  Event begun;
  Event asked;
  echo.on("first", [&] {
    begun.happen();
    asked.wait();
  });
  SocketServing server(echo);
  const SocketClient one(server);
  one.say("first\n" + repeated("line", 100));
  REQUIRE(begun.wait());
  const SocketClient other(server);
  other.say("end\n");
  asked.happen();
  server.join();
  CHECK(echo.lines().size() < 100);
}

}  // namespace
}  // namespace pacml::apps
