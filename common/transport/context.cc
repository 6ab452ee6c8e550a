#include "common/transport/context.h"

#include "common/transport/zmq_socket.h"

namespace pacml::transport {

Context::Context(int io_threads) : native_(std::make_unique<Native>(io_threads)) {}

Context::~Context() = default;

void Context::stop() { native_->zmq.shutdown(); }

}  // namespace pacml::transport
