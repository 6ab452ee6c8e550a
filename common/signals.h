#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace boost::asio {
class io_context;
}

namespace pacml {

// Turns signals into calls on the thread that runs `io`: SIGINT, SIGTERM and SIGHUP (the terminal,
// or the ssh session, is gone) request a stop, SIGUSR1 asks for a checkpoint. While one exists,
// these signals no longer end the process, and afterwards SIGUSR1 still does not; SIGHUP stays
// ignored where it was (nohup). One per process. Thread-confined to the thread that runs `io`, but
// for token(): thread-safe.
class Signals {
 public:
  struct Callbacks {
    std::function<void(int signal)> stop;  // each of the first three, after token() is stopped
    std::function<void()> checkpoint;      // each SIGUSR1
  };
  explicit Signals(boost::asio::io_context& io, Callbacks callbacks = {});
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();
  [[nodiscard]] std::stop_token token() const;
  // Lets `io.run()` return: no more signals are waited for.
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pacml
