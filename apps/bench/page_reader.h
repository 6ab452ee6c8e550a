#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace pacml::apps {

// Reads a learner's pages for as long as it exists, as a browser with the dashboard open does, and
// Prometheus beside it. Counts are thread-safe.
class PageReader {
 public:
  // `port`: of this machine; nobody need listen there yet.
  explicit PageReader(int port);

  [[nodiscard]] std::int64_t read() const { return read_; }
  // Pages that were not to be had: before the learner is there, and after it.
  [[nodiscard]] std::int64_t failed() const { return failed_; }

 private:
  void watch(const std::stop_token& stop);
  void get(const std::string& target);

  int port_;
  std::atomic<std::int64_t> read_{0};
  std::atomic<std::int64_t> failed_{0};
  std::jthread thread_;
};

}  // namespace pacml::apps
