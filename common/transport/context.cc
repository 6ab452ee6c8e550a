#include "common/transport/context.h"

#include <utility>

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

Context::Context(int io_threads, std::optional<Encryption> encryption, int max_sockets)
    : native_(std::make_unique<Native>(io_threads, std::move(encryption))) {
  native_->zmq.set(zmq::ctxopt::max_sockets, max_sockets);
}

Context::~Context() = default;

void Context::stop() { native_->zmq.shutdown(); }

}  // namespace pacml::transport
