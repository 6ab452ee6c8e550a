#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace pacml {

// Calls `work` every `period` on the thread that runs `io`, from start() to stop(). A timer that is
// only cancelled would miss the wait whose handler is queued already, which then begins the next
// one and keeps the loop for ever; after stop() nothing is called and nothing is waited for.
// Thread-confined to the thread that runs `io`; stop() may be called by `work`. Destroying it stops
// it.
class RepeatingTimer {
 public:
  // Pre: period > 0.
  RepeatingTimer(boost::asio::io_context& io, std::chrono::milliseconds period,
                 std::function<void()> work);
  RepeatingTimer(const RepeatingTimer&) = delete;
  RepeatingTimer& operator=(const RepeatingTimer&) = delete;
  ~RepeatingTimer();

  // Calls `work` now for the first time. Pre: not started.
  void start();
  // For whoever keeps `io` from running: calls `work` if that is due. Pre: started.
  void catch_up();
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pacml
