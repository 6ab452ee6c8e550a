// The network that tests of failures run over.

#include "tests/support/network_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <string>
#include <thread>

#include "common/clock.h"
#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;
using testing::NetworkProxy;
using testing::TcpAddress;

double seconds_since(TimePoint began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Two ends of one connection through a proxy, each with the test's patience.
class Wire {
 public:
  Wire()
      : acceptor_(io_, testing::tcp_address(testing::loopback_host(2), 0)),
        proxy({{testing::tcp_address(testing::loopback_host(3), 0), acceptor_.local_endpoint()}}),
        near(io_),
        far(io_) {
    connect();
  }
  void connect() {
    near = tcp::socket(io_);
    near.connect(proxy.address());
    far = acceptor_.accept();
    for (tcp::socket* end : {&near, &far}) {
      const timeval patience{testing::soon().remaining().count() / 1'000 + 1, 0};
      ::setsockopt(end->native_handle(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      end->set_option(tcp::no_delay(true));
    }
  }

 private:
  asio::io_context io_;
  tcp::acceptor acceptor_;

 public:
  NetworkProxy proxy;
  tcp::socket near, far;
};

void say(tcp::socket& socket, const std::string& text) {
  boost::asio::write(socket, boost::asio::buffer(text));
}

std::string hear(tcp::socket& socket, std::size_t size) {
  std::string text(size, ' ');
  boost::asio::read(socket, boost::asio::buffer(text));
  return text;
}

// Whether something comes within a moment.
bool hears(tcp::socket& socket) {
  pollfd item{socket.native_handle(), POLLIN, 0};
  return ::poll(&item, 1, 100) > 0;
}

std::string long_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

TEST_CASE("a proxy carries bytes both ways, in order", "[unit][support]") {
  Wire wire;
  const std::string text = long_text(3'000'000);
  std::thread sender([&] { say(wire.near, text); });
  const std::string heard = hear(wire.far, text.size());
  sender.join();
  CHECK(heard == text);
  say(wire.far, "back");
  CHECK(hear(wire.near, 4) == "back");
  CHECK(wire.proxy.traffic().bytes == text.size() + 4);
  CHECK(wire.proxy.traffic().connections == 1);
}

TEST_CASE("latency delays each byte, and what is under way does not wait for it",
          "[unit][support]") {
  Wire wire;
  wire.proxy.set_manner({.latency = 1s});
  // So many that, one after the other, they would come after this test's end.
  const Deadline end = testing::soon();
  const auto pieces = static_cast<std::size_t>(end.remaining() / 1s) + 1;
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < pieces; ++i) {
    say(wire.near, "x");
    std::this_thread::sleep_for(1ms);  // so that they are many pieces to the proxy
  }
  CHECK(hear(wire.far, pieces) == std::string(pieces, 'x'));
  CHECK(seconds_since(began) >= 1);
  CHECK_FALSE(end.expired());
  say(wire.far, "y");
  CHECK(hear(wire.near, 1) == "y");
  CHECK(seconds_since(began) >= 2);
}

TEST_CASE("a rate limit is kept", "[unit][support]") {
  Wire wire;
  wire.proxy.set_manner({.bytes_per_second = 1'000'000});
  const auto began = std::chrono::steady_clock::now();
  const std::string text = long_text(300'000);
  std::thread sender([&] { say(wire.near, text); });
  const std::string heard = hear(wire.far, text.size());
  sender.join();
  CHECK(heard == text);
  CHECK(seconds_since(began) >= 0.28);  // the last chunk is there when it leaves
}

TEST_CASE("a partition holds everything back, and healing lets it go", "[unit][support]") {
  Wire wire;
  say(wire.near, "before");
  CHECK(hear(wire.far, 6) == "before");
  wire.proxy.partition();
  say(wire.near, "forth");
  say(wire.far, "back");
  CHECK_FALSE(hears(wire.far));
  CHECK_FALSE(hears(wire.near));
  wire.proxy.heal();
  CHECK(hear(wire.far, 5) == "forth");
  CHECK(hear(wire.near, 4) == "back");
  CHECK(wire.proxy.traffic().connections == 1);
}

TEST_CASE("during a partition nobody learns of an end or gets through", "[unit][support]") {
  Wire wire;
  wire.proxy.partition();
  wire.near.close();
  CHECK_FALSE(hears(wire.far));
  asio::io_context io;
  tcp::socket other(io);
  other.connect(wire.proxy.address());
  say(other, "hello");
  CHECK_FALSE(hears(other));
  wire.proxy.heal();
  error_code error;
  char byte = 0;
  wire.far.read_some(boost::asio::buffer(&byte, 1), error);
  CHECK(error == boost::asio::error::eof);
}

TEST_CASE("what a partition holds back is bounded", "[unit][support]") {
  Wire wire;
  wire.proxy.partition();
  wire.near.non_blocking(true);
  const std::string text = long_text(65'536);
  std::size_t taken = 0;
  error_code error;
  // Full when it takes nothing for a while: the proxy may be about to read.
  const Deadline deadline = testing::soon();
  for (int idle = 0; idle < 100 && taken < 200'000'000 && !deadline.expired();) {
    const auto size = wire.near.write_some(boost::asio::buffer(text), error);
    taken += size;
    idle = size > 0 || taken <= 4'000'000 ? 0 : idle + 1;
    if (size == 0) std::this_thread::sleep_for(2ms);
  }
  CHECK(taken > 4'000'000);
  CHECK(taken < 50'000'000);  // and what the system's own buffers hold
}

TEST_CASE("a cut closes and refuses, and healing accepts again at the same address",
          "[unit][support]") {
  Wire wire;
  const TcpAddress address = wire.proxy.address();
  wire.proxy.cut();
  for (tcp::socket* end : {&wire.near, &wire.far}) {
    error_code error;
    char byte = 0;
    end->read_some(boost::asio::buffer(&byte, 1), error);
    CHECK((error == boost::asio::error::eof || error == boost::asio::error::connection_reset));
  }
  asio::io_context io;
  tcp::socket refused(io);
  error_code error;
  refused.connect(address, error);
  CHECK(error == boost::asio::error::connection_refused);
  wire.proxy.heal();
  CHECK(wire.proxy.address() == address);
  wire.connect();
  say(wire.near, "again");
  CHECK(hear(wire.far, 5) == "again");
}

TEST_CASE("where a proxy cannot stand, it says so", "[unit][support]") {
  const Wire wire;
  CHECK_THROWS_AS(NetworkProxy({{wire.proxy.address(), wire.proxy.address()}}),
                  boost::system::system_error);
}

}  // namespace
}  // namespace pacml
