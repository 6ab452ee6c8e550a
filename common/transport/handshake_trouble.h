#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/clock.h"
#include "common/transport/channel.h"

namespace pacml::transport {

// What the handshakes of one connecting socket came to, as a sentence. Thread-confined.
class HandshakeTrouble {
 public:
  // `address`: of the server. `encrypted`: whether we use keys. `memory`: for how long a failure is
  // told that may have mended itself meanwhile.
  HandshakeTrouble(std::string address, bool encrypted, Duration memory);

  // An event of a ZeroMQ monitor: ZMQ_EVENT_HANDSHAKE_* with its value.
  void heard(std::uint16_t event, std::uint32_t value, TimePoint at);
  // nullopt: the last handshake went well, or there was none for long, or one broke off that may
  // have met a server which was just coming or going.
  [[nodiscard]] std::optional<Trouble> now(TimePoint at) const;

 private:
  std::string address_;
  bool encrypted_;
  Duration memory_;
  std::optional<Trouble> trouble_;
  int in_a_row_ = 0;  // handshakes that did not go well
  TimePoint heard_at_;
};

}  // namespace pacml::transport
