#pragma once

#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "apps/http/http_server.h"
#include "common/asio.h"

namespace pacml::testing {

// An HTTP server on a thread of its own, at a port of this machine.
class ServedPages {
 public:
  template <class Handler>  // HttpHandler or HttpLateHandler
  explicit ServedPages(Handler handler, const apps::HttpLimits& limits = {})
      : server_(io_, {}, std::move(handler), limits), thread_([this] { io_.run(); }) {}
  ServedPages(const ServedPages&) = delete;
  ServedPages& operator=(const ServedPages&) = delete;
  ~ServedPages() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { server_.stop(); });
    thread_.join();
  }
  // On the thread that serves.
  void post(std::function<void()> act) { asio::post(io_, std::move(act)); }
  [[nodiscard]] std::string address() const { return address_; }
  [[nodiscard]] apps::HttpCounters counters() {
    std::promise<apps::HttpCounters> counted;
    asio::post(io_, [&] { counted.set_value(server_.counters()); });
    return counted.get_future().get();
  }

 private:
  asio::io_context io_;
  apps::HttpServer server_;
  std::string address_ = server_.address();
  std::thread thread_;
};

}  // namespace pacml::testing
