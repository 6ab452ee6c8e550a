#include "apps/bench/free_ports.h"

#include "common/asio.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

constexpr int kAttempts = 50;

}  // namespace

int free_ports(int count) {
  using asio::ip::tcp;
  asio::io_context io;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const tcp::acceptor any(io, {asio::ip::address_v4::loopback(), 0});
    const int first = any.local_endpoint().port();
    bool all = first + count <= 65536;
    for (int port = first + 1; all && port < first + count; ++port) {
      tcp::acceptor next(io, tcp::v4());
      boost::system::error_code taken;
      next.bind({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)}, taken);
      all = !taken;
    }
    if (all) return first;
  }
  throw UserError("no free ports were found on 127.0.0.1");
}

}  // namespace pacml::apps
