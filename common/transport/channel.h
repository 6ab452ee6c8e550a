#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "common/clock.h"
#include "common/result.h"
#include "common/wire/frame.h"

// The seams of the transport. Real: dealer.h, router.h, publisher.h, subscriber.h over ZeroMQ; for
// tests and single-process runs: in_process.h. All move frames and know nothing of what is in them.
// Thread-confined, but for wake(): thread-safe.

namespace pacml::transport {

// Names a connection as long as it lasts; a peer that reconnects has a new one.
struct PeerId {
  std::string bytes;
  friend auto operator<=>(const PeerId&, const PeerId&) = default;
};

struct Incoming {
  PeerId peer;
  wire::Frame frame;
  std::string key_name{};  // who holds the key that it showed, by the list of allowed clients;
                           // empty in the clear
  bool revoked = false;    // the key has been taken out of the list since
};

// Why a client has no connection, where its transport can tell.
struct Trouble {
  std::string reason;    // a sentence, without its full stop
  bool lasting = false;  // the client has given up: somebody has to mend keys or addresses
};

// One end of a conversation with a server.
class FrameClient {
 public:
  virtual ~FrameClient() = default;
  // Takes the frame, or leaves it untouched on kTimeout (the queue stayed full) and kStopped.
  // Accepted is not delivered: a connection that breaks takes what is on the way with it.
  [[nodiscard]] virtual Result<void> send(wire::Frame&& frame, Deadline deadline) = 0;
  // kTimeout: nothing came before the deadline or a wake(). kStopped: the transport is closing.
  [[nodiscard]] virtual Result<wire::Frame> receive(Deadline deadline) = 0;
  // Ends the wait of a receive() that runs or, once, of the next one.
  virtual void wake() = 0;
  // Where the server is looked for, for sentences; empty within a process.
  [[nodiscard]] virtual std::string address() const { return {}; }
  // nullopt: there is a connection, or nothing is known of why there is none.
  [[nodiscard]] virtual std::optional<Trouble> trouble() { return std::nullopt; }
};

// One end of many conversations.
class FrameServer {
 public:
  virtual ~FrameServer() = default;
  // As FrameClient's; takes turns between peers.
  [[nodiscard]] virtual Result<Incoming> receive(Deadline deadline) = 0;
  // Never waits. kDisconnected: no such peer. kTimeout: its queue is full. kStopped. On error the
  // frame is left untouched.
  [[nodiscard]] virtual Result<void> send(const PeerId& peer, wire::Frame&& frame) = 0;
  virtual void wake() = 0;
  // Connections that were turned away because of their key, so far. Thread-safe.
  [[nodiscard]] virtual std::uint64_t denied() const { return 0; }
  // Whether the list of allowed clients has a key of that holder, now. Thread-safe.
  [[nodiscard]] virtual bool lists(const std::string& key_name) const {
    static_cast<void>(key_name);
    return true;
  }
};

// Tells whoever listens. A subscriber that joins late or is slow misses announcements.
class FramePublisher {
 public:
  virtual ~FramePublisher() = default;
  // Never waits. kStopped.
  [[nodiscard]] virtual Result<void> publish(wire::Frame&& frame) = 0;
};

class FrameSubscriber {
 public:
  virtual ~FrameSubscriber() = default;
  // The newest announcement; older ones that wait are dropped. kTimeout: none came. kStopped.
  [[nodiscard]] virtual Result<wire::Frame> latest(Deadline deadline) = 0;
};

}  // namespace pacml::transport
