#include "common/transport/handshake_trouble.h"

#include <zmq.h>

#include <utility>

namespace pacml::transport {
namespace {

// libzmq connects again after a connection that broke off, but not after one that was refused or
// spoke another protocol: that lasts.
Trouble meaning(const std::string& address, bool encrypted, std::uint16_t event,
                std::uint32_t value) {
  const std::string server = "the server at " + address;
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    return {server + " does not allow our key: it is not in its list of allowed clients", true};
  }
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
    if (value != ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
      return {server + " speaks another protocol", true};
    }
    return {encrypted ? server + " does not encrypt, and we do: give it keys as well, or us none"
                      : server + " wants keys, and we have none: --keys DIR",
            true};
  }
  // A server that is paused or killed meanwhile looks the same; so does one that closed before its
  // reason was read.
  return {server + " breaks off the handshake: " +
              (encrypted ? "server.pub here is probably not its key, or it has none"
                         : "it probably wants keys, and we have none: --keys DIR"),
          false};
}

}  // namespace

HandshakeTrouble::HandshakeTrouble(std::string address, bool encrypted, Duration memory)
    : address_(std::move(address)), encrypted_(encrypted), memory_(memory) {}

void HandshakeTrouble::heard(std::uint16_t event, std::uint32_t value, TimePoint at) {
  heard_at_ = at;
  if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
    trouble_.reset();
    in_a_row_ = 0;
  } else {
    ++in_a_row_;
    trouble_ = meaning(address_, encrypted_, event, value);
  }
}

std::optional<Trouble> HandshakeTrouble::now(TimePoint at) const {
  const bool told = trouble_ && (trouble_->lasting || (in_a_row_ > 1 && at - heard_at_ <= memory_));
  return told ? trouble_ : std::nullopt;
}

}  // namespace pacml::transport
