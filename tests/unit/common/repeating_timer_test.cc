#include "common/repeating_timer.h"

#include <chrono>
#include <functional>
#include <thread>

#include "common/asio.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

TEST_CASE("work is done at once and again and again, until it says stop", "[unit][common]") {
  asio::io_context io;
  int turns = 0;
  RepeatingTimer timer(io, 1ms, [&] {
    if (++turns == 5) timer.stop();
  });
  timer.start();
  CHECK(turns == 1);
  io.run_until(testing::soon().at());
  CHECK(io.stopped());
  CHECK(turns == 5);
}

TEST_CASE("whenever a timer is stopped, the loop has nothing left to wait for", "[unit][common]") {
  // When the stop comes, the wait may be over and its handler in the queue: before the one that
  // stops it, or after.
  const int handlers_before = GENERATE(0, 1, 2, 3, 4);
  asio::io_context io;
  int turns_after_stop = 0;
  bool stopped = false;
  RepeatingTimer timer(io, 1ms, [&] {
    if (stopped) ++turns_after_stop;
  });
  std::function<void(int)> hop = [&](int left) {
    std::this_thread::sleep_for(2ms);  // longer than a period: the wait is over
    if (left > 0) return asio::post(io, [&, left] { hop(left - 1); });
    timer.stop();
    stopped = true;
  };
  timer.start();
  asio::post(io, [&] { hop(handlers_before); });
  io.run_until(testing::soon().at());
  CHECK(io.stopped());
  CHECK(turns_after_stop == 0);
}

TEST_CASE("whoever keeps a loop from running does what is due, and nothing else",
          "[unit][common]") {
  asio::io_context io;
  int turns = 0;
  RepeatingTimer timer(io, 1ms, [&] {
    if (++turns == 5) timer.stop();
  });
  timer.start();
  testing::wait_until("it has been due twice", [&] {
    timer.catch_up();
    return turns == 3;
  });
  io.run_until(testing::soon().at());
  CHECK(io.stopped());
  timer.catch_up();
  CHECK(turns == 5);
}

TEST_CASE("nothing is due before its time", "[unit][common]") {
  asio::io_context io;
  int calls = 0;
  RepeatingTimer slow(io, 1h, [&] { ++calls; });
  slow.start();
  slow.catch_up();
  CHECK(calls == 1);
}

TEST_CASE("a timer that is gone calls nothing", "[unit][common]") {
  asio::io_context io;
  int turns = 0;
  {
    RepeatingTimer timer(io, 1ms, [&] { ++turns; });
    timer.start();
  }
  io.run_until(testing::soon().at());
  CHECK(turns == 1);
}

}  // namespace
}  // namespace pacml
