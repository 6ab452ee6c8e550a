#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/asio.h"

namespace pacml::testing {

using TcpAddress = asio::ip::tcp::endpoint;

// "127.0.0.1", 5555.
[[nodiscard]] TcpAddress tcp_address(const std::string& host, int port);

// A stretch of network between two places: TCP connections to some ports are carried on to others,
// as slowly and as unreliably as one likes. Bytes of a connection keep their order and are neither
// lost nor doubled; what is held back is bounded (4 MiB a connection and direction), then the
// sender has to wait. Has a thread of its own. Thread-safe; each command is in effect when it
// returns.
class NetworkProxy {
 public:
  struct Forward {
    TcpAddress listen;  // port 0: any that is free; see address()
    TcpAddress to;      // need not be there yet
  };
  struct Manner {
    std::chrono::milliseconds latency{0};  // each way; what is under way does not wait for it
    std::int64_t bytes_per_second = 0;     // of each connection, each way; 0: no limit
  };
  struct Traffic {  // since construction
    std::uint64_t connections = 0;
    std::uint64_t bytes = 0;  // carried, both ways
  };

  // `enter` runs first on the proxy's thread, to which its sockets belong: a place to enter another
  // network namespace. Throws what the system says where it cannot listen.
  explicit NetworkProxy(const std::vector<Forward>& forwards,
                        const std::function<void()>& enter = {});
  NetworkProxy(const NetworkProxy&) = delete;
  NetworkProxy& operator=(const NetworkProxy&) = delete;
  ~NetworkProxy();

  // From now on; what was taken before keeps its time.
  void set_manner(const Manner& manner);
  // Carries nothing, but keeps every connection, as a network does that loses all packets.
  void partition();
  // Closes every connection and refuses new ones, as a host does that is there without its servers.
  void cut();
  // The end of partition() and cut(): what was held back is carried on.
  void heal();

  [[nodiscard]] TcpAddress address(std::size_t forward = 0) const;
  [[nodiscard]] Traffic traffic() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::testing
