#include "common/repeating_timer.h"

#include <utility>

#include "common/asio.h"
#include "common/check.h"

namespace pacml {

struct RepeatingTimer::State : std::enable_shared_from_this<RepeatingTimer::State> {
  State(asio::io_context& io, std::chrono::milliseconds every, std::function<void()> given)
      : timer(io), period(every), work(std::move(given)) {}

  void turn() {
    work();
    if (stopped) return;
    timer.expires_after(period);
    timer.async_wait([self = weak_from_this()](const boost::system::error_code& cancelled) {
      const auto state = self.lock();
      if (!cancelled && state) state->catch_up();
    });
  }

  // Also what a wait ends in: one that was over when somebody caught up finds nothing due, and
  // another one under way.
  void catch_up() {
    if (!stopped && timer.expiry() <= asio::steady_timer::clock_type::now()) turn();
  }

  asio::steady_timer timer;
  const std::chrono::milliseconds period;
  const std::function<void()> work;
  bool stopped = false;
};

RepeatingTimer::RepeatingTimer(boost::asio::io_context& io, std::chrono::milliseconds period,
                               std::function<void()> work)
    : state_(std::make_shared<State>(io, period, std::move(work))) {
  PACML_CHECK(period.count() > 0, "a timer that never waits starves its loop");
}

RepeatingTimer::~RepeatingTimer() { stop(); }

void RepeatingTimer::start() { state_->turn(); }

void RepeatingTimer::catch_up() { state_->catch_up(); }

void RepeatingTimer::stop() {
  state_->stopped = true;
  state_->timer.cancel();
}

}  // namespace pacml
