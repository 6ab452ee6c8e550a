#pragma once

#include <memory>
#include <optional>

#include "common/transport/curve.h"

namespace pacml::transport {

// The input and output threads that sockets share. Declare it before the threads that own sockets:
// destroying it waits until every socket is closed. stop(): thread-safe; it makes every wait in
// every socket return kStopped, for good.
class Context {
 public:
  // `encryption`: of every socket; without it they talk in the clear.
  // `max_sockets`: how many there may be at a time.
  explicit Context(int io_threads = 1, std::optional<Encryption> encryption = {},
                   int max_sockets = 1023);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();
  void stop();

  struct Native;  // zmq::context_t
  [[nodiscard]] Native& native() { return *native_; }

 private:
  std::unique_ptr<Native> native_;
};

}  // namespace pacml::transport
