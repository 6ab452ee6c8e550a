#include "apps/roles/role_threads.h"

#include <spdlog/spdlog.h>

#include <csignal>
#include <optional>
#include <utility>

#include "apps/http/http_server.h"
#include "apps/http/status_pages.h"
#include "common/asio.h"
#include "common/check.h"
#include "common/heartbeat.h"
#include "common/repeating_timer.h"
#include "common/scope_exit.h"
#include "common/signals.h"
#include "common/thread_group.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::seconds kBeatEvery{1};

// The pages of a role, which is not ready while it stops.
void serve_pages(std::optional<HttpServer>& server, asio::io_context& io, const RolePages& pages,
                 const std::stop_token& stop) {
  if (!pages.http) return;
  const StatusPages answers(
      [report = pages.report, silence = pages.silence, stop] {
        RoleReport now = report();
        now.hangs = hung_thread(steady().now(), silence);
        now.ready = now.ready && !stop.stop_requested();
        return now;
      },
      pages.http->token, pages.further);
  server.emplace(io, *pages.http,
                 [answers](const HttpRequest& request, const HttpCounters& counters) {
                   return answers.answer(request, counters);
                 });
  spdlog::info("status, metrics and health at http://{}", server->address());
}

}  // namespace

void run_role_threads(const std::vector<RoleThread>& roles, std::function<void()> checkpoint,
                      const RolePages& pages) {
  PACML_CHECK(!roles.empty(), "a role has a thread");
  // Gloo writes to replicas that may be gone: that is an error of its write, and not our end.
  std::signal(SIGPIPE, SIG_IGN);
  asio::io_context io;
  Signals signals(io, {.stop = {}, .checkpoint = std::move(checkpoint)});
  if (pages.life_line != nullptr) pages.life_line->ready();
  const Heartbeat heart("control");
  RepeatingTimer beats(io, kBeatEvery, beat);
  beats.start();
  ThreadGroup threads;
  std::optional<HttpServer> http;
  serve_pages(http, io, pages, threads.stop_token());
  std::size_t running = roles.size();  // touched by this thread only
  const auto ended = [&] {
    threads.request_stop();
    if (--running > 0) return;
    signals.cancel();
    beats.stop();
    if (http) http->stop();
  };
  for (const RoleThread& role : roles) {
    threads.spawn(role.name, [&io, &ended, &role](const std::stop_token& stop) {
      // However the thread ends, this one must learn of it.
      const ScopeExit wake_control([&] { asio::post(io, ended); });
      const Heartbeat its_heart(role.name);
      role.body(stop);
    });
  }
  const std::stop_callback on_signal(signals.token(), [&] { threads.request_stop(); });
  io.run();
  const Rest rest;  // the threads' own hearts tell how they go on
  threads.join();
}

}  // namespace pacml::apps
