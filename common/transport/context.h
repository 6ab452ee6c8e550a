#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/transport/curve.h"

namespace pacml::transport {

// The input and output threads that sockets share. Declare it before the threads that own sockets:
// destroying it waits until every socket is closed. stop(): thread-safe; it makes every wait in
// every socket return kStopped, for good.
//
// With encryption, every tcp and ipc socket is encrypted, and those that bind let in nobody but the
// clients of the allow-list: a thread of the context answers for them (zap.h).
class Context {
 public:
  // `encryption`: of every socket; without it they talk in the clear. UserError: its list of
  // clients is broken. `max_sockets`: how many there may be at a time.
  explicit Context(int io_threads = 1, std::optional<Encryption> encryption = {},
                   int max_sockets = 1023);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();
  void stop();
  // Connections that were turned away because of their key, so far. Thread-safe.
  [[nodiscard]] std::uint64_t denied() const;

  struct Native;  // zmq::context_t
  [[nodiscard]] Native& native() { return *native_; }

 private:
  std::unique_ptr<Native> native_;
};

}  // namespace pacml::transport
