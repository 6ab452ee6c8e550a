#include "tests/support/addresses.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>

#include "common/asio.h"

namespace pacml::testing {
namespace {

constexpr int kPorts = 16;
constexpr int kFirstPort = 20'000;
constexpr int kBlocks = 750;  // below 32 768, where the system's own choice begins

// Takes `name` for this process, unless another one has it: a name in Linux's abstract namespace is
// let go of when its owner ends, however it ends. tests/support/ports.py does the same.
bool claim(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::runtime_error("out of sockets");
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return true;
  ::close(fd);
  return false;
}

bool nobody_listens(int first_port) {
  asio::io_context io;
  for (int port = first_port; port < first_port + kPorts; ++port) {
    boost::system::error_code taken;
    asio::ip::tcp::acceptor acceptor(io);
    acceptor.open(asio::ip::tcp::v4());
    acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true));
    acceptor.bind({asio::ip::address_v4::any(), static_cast<unsigned short>(port)}, taken);
    if (taken) return false;
  }
  return true;
}

std::string claim_network() {
  for (int x = 1; x < 255; ++x) {
    for (int y = 0; y < 255; ++y) {
      const std::string network = "127." + std::to_string(x) + "." + std::to_string(y);
      if (claim("pacml-test-" + network)) return network;
    }
  }
  throw std::runtime_error("every loopback network is taken");
}

}  // namespace

std::string loopback_host(int host) {
  static const std::string network = claim_network();
  return network + "." + std::to_string(host);
}

int sixteen_ports() {
  static std::atomic<int> next{0};
  for (int block = next++; block < kBlocks; block = next++) {
    const int first = kFirstPort + kPorts * block;
    if (claim("pacml-test-ports-" + std::to_string(first)) && nobody_listens(first)) return first;
  }
  throw std::runtime_error("every port is taken");
}

}  // namespace pacml::testing
