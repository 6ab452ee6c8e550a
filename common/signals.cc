#include "common/signals.h"

#include <csignal>
#include <utility>

#include "common/asio.h"

namespace pacml {

struct Signals::State : std::enable_shared_from_this<Signals::State> {
  State(asio::io_context& io, Callbacks given)
      : signals(io, SIGINT, SIGTERM, SIGUSR1), callbacks(std::move(given)) {
    struct sigaction action {};
    ::sigaction(SIGHUP, nullptr, &action);
    if (action.sa_handler != SIG_IGN) signals.add(SIGHUP);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    boost::system::error_code ignored;
    signals.clear(ignored);
    // A request that comes late must not be the end of a process that has stopped in order.
    struct sigaction action {};
    ::sigaction(SIGUSR1, nullptr, &action);
    if (action.sa_handler == SIG_DFL) ::signal(SIGUSR1, SIG_IGN);
  }

  void wait() {
    signals.async_wait(
        [self = shared_from_this()](const boost::system::error_code& error, int signal) {
          if (error || self->cancelled) return;
          self->handle(signal);
          if (!self->cancelled) self->wait();
        });
  }
  void handle(int signal) const {
    if (signal == SIGUSR1) {
      if (callbacks.checkpoint) callbacks.checkpoint();
      return;
    }
    stop.request_stop();
    if (callbacks.stop) callbacks.stop(signal);
  }
  void cancel() {
    cancelled = true;
    signals.cancel();
  }

  asio::signal_set signals;
  Callbacks callbacks;
  std::stop_source stop;
  bool cancelled = false;
};

Signals::Signals(boost::asio::io_context& io, Callbacks callbacks)
    : state_(std::make_shared<State>(io, std::move(callbacks))) {
  state_->wait();
}

Signals::~Signals() { state_->cancel(); }

std::stop_token Signals::token() const { return state_->stop.get_token(); }

void Signals::cancel() { state_->cancel(); }

}  // namespace pacml
