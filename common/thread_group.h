#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace pacml {

// Threads that live and die together: the first one to fail stops them all, and join() rethrows its
// exception. Nothing escapes a thread silently. Declare it after what its threads use. spawn and
// join: thread-confined to the owner; request_stop and stop_token: thread-safe.
class ThreadGroup {
 public:
  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  // Stops and joins; an exception that nobody joined for is logged, not lost.
  ~ThreadGroup();

  // `name`: shown by ps and debuggers, cut to 15 characters.
  void spawn(std::string name, std::function<void(std::stop_token)> body);
  void request_stop() { stop_.request_stop(); }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // Waits for every thread, then rethrows the first failure.
  void join();

 private:
  void wait_for_all();

  std::stop_source stop_;
  std::mutex mutex_;
  std::exception_ptr first_error_;  // under mutex_
  std::vector<std::thread> threads_;
};

// As spawn does for its threads.
void name_this_thread(const std::string& name);

}  // namespace pacml
