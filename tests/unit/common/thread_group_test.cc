#include "common/thread_group.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <stdexcept>

#include "tests/support/catch.h"

namespace pacml {
namespace {

// Waits for a stop as a well-behaved thread does.
void wait_for_stop(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  condition.wait(lock, stop, [] { return false; });
}

TEST_CASE("join waits for threads that end by themselves", "[threads]") {
  std::atomic<int> done{0};
  ThreadGroup threads;
  for (int i = 0; i < 3; ++i) threads.spawn("worker", [&](const std::stop_token&) { ++done; });
  threads.join();
  REQUIRE(done == 3);
}

TEST_CASE("the first failure stops the others and is rethrown by join", "[threads]") {
  ThreadGroup threads;
  threads.spawn("patient", wait_for_stop);
  threads.spawn("faulty", [](const std::stop_token&) { throw std::runtime_error("broken"); });
  REQUIRE_THROWS_WITH(threads.join(), "broken");
  REQUIRE(threads.stop_token().stop_requested());
}

TEST_CASE("a failure is reported once", "[threads]") {
  ThreadGroup threads;
  threads.spawn("faulty", [](const std::stop_token&) { throw std::runtime_error("broken"); });
  REQUIRE_THROWS(threads.join());
  REQUIRE_NOTHROW(threads.join());
}

TEST_CASE("a stop request reaches every thread", "[threads]") {
  ThreadGroup threads;
  for (int i = 0; i < 3; ++i) threads.spawn("patient", wait_for_stop);
  threads.request_stop();
  REQUIRE_NOTHROW(threads.join());
}

TEST_CASE("the destructor stops threads that nobody joined", "[threads]") {
  std::atomic<bool> ended{false};
  {
    ThreadGroup threads;
    threads.spawn("patient", [&](const std::stop_token& stop) {
      wait_for_stop(stop);
      ended = true;
    });
  }
  REQUIRE(ended);
}

TEST_CASE("threads carry their name, cut to what the system takes", "[threads]") {
  std::array<char, 32> name{};
  ThreadGroup threads;
  threads.spawn("a-name-that-is-too-long", [&](const std::stop_token&) {
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  });
  threads.join();
  REQUIRE(std::string{name.data()} == "a-name-that-is-");
}

}  // namespace
}  // namespace pacml
