#include "common/transport/context.h"

#include <utility>

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

Context::Context(int io_threads, std::optional<Encryption> encryption, int max_sockets)
    : native_(std::make_unique<Native>(io_threads, std::move(encryption), max_sockets)) {}

Context::~Context() { stop(); }

void Context::stop() { native_->zmq.shutdown(); }

std::uint64_t Context::denied() const { return native_->zap ? native_->zap->denied() : 0; }

}  // namespace pacml::transport
