#include "common/transport/context.h"

#include <utility>

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

Context::Context(int io_threads, std::optional<Encryption> encryption)
    : native_(std::make_unique<Native>(io_threads, std::move(encryption))) {}

Context::~Context() = default;

void Context::stop() { native_->zmq.shutdown(); }

}  // namespace pacml::transport
