#include "apps/roles/role_threads.h"

#include <memory>
#include <utility>

#include "common/asio.h"
#include "common/signals.h"
#include "common/thread_group.h"

namespace pacml::apps {

void run_role_threads(const std::vector<RoleThread>& roles, std::function<void()> checkpoint) {
  boost::asio::io_context io;
  Signals signals(io, {.stop = {}, .checkpoint = std::move(checkpoint)});
  ThreadGroup threads;
  for (const RoleThread& role : roles) {
    threads.spawn(role.name, [&io, &signals, &role](const std::stop_token& stop) {
      // However the thread ends, this one must learn of it.
      const std::shared_ptr<void> wake_control(
          nullptr, [&](void*) { boost::asio::post(io, [&signals] { signals.cancel(); }); });
      role.body(stop);
    });
  }
  const std::stop_callback on_signal(signals.token(), [&] {
    threads.request_stop();
    signals.cancel();
  });
  io.run();
  threads.request_stop();
  threads.join();
}

}  // namespace pacml::apps
