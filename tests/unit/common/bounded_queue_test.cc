#include "common/bounded_queue.h"

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

TEST_CASE("items leave a queue in the order they came", "[queue]") {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) REQUIRE(queue.try_push(int{i}));
  REQUIRE(queue.size() == 3);
  for (int i = 0; i < 3; ++i) REQUIRE(queue.try_pop() == i);
}

TEST_CASE("a full queue times out and leaves the item untouched", "[queue]") {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  REQUIRE(queue.try_push(std::make_unique<int>(1)));
  auto item = std::make_unique<int>(2);
  REQUIRE(queue.try_push(std::move(item)).error().code == Errc::kTimeout);
  REQUIRE(queue.push(std::move(item), {}, Deadline::in(1ms)).error().code == Errc::kTimeout);
  REQUIRE(*item == 2);
}

TEST_CASE("an empty queue times out", "[queue]") {
  BoundedQueue<int> queue(1);
  REQUIRE(queue.try_pop().error().code == Errc::kTimeout);
  REQUIRE(queue.pop({}, Deadline::in(1ms)).error().code == Errc::kTimeout);
}

TEST_CASE("a closed queue hands out what it took, then says so", "[queue]") {
  BoundedQueue<int> queue(2);
  REQUIRE(queue.try_push(7));
  queue.close();
  REQUIRE(queue.try_push(8).error().code == Errc::kStopped);
  REQUIRE(queue.try_pop() == 7);
  REQUIRE(queue.pop().error().code == Errc::kStopped);
}

TEST_CASE("closing wakes whoever waits to pop", "[queue]") {
  BoundedQueue<int> queue(1);
  Result<int> got = 0;
  std::thread waiter([&] { got = queue.pop(); });
  queue.close();
  waiter.join();
  REQUIRE(got.error().code == Errc::kStopped);
}

TEST_CASE("a stop request wakes whoever waits to push or pop", "[queue]") {
  BoundedQueue<int> full(1);
  BoundedQueue<int> empty(1);
  REQUIRE(full.try_push(1));
  std::stop_source stop;
  Result<void> pushed;
  Result<int> popped = 0;
  std::thread pusher([&] { pushed = full.push(2, stop.get_token()); });
  std::thread popper([&] { popped = empty.pop(stop.get_token()); });
  stop.request_stop();
  pusher.join();
  popper.join();
  REQUIRE(pushed.error().code == Errc::kStopped);
  REQUIRE(popped.error().code == Errc::kStopped);
}

TEST_CASE("what is there is handed out even after a stop request", "[queue]") {
  BoundedQueue<int> queue(1);
  REQUIRE(queue.try_push(1));
  std::stop_source stop;
  stop.request_stop();
  REQUIRE(queue.pop(stop.get_token()) == 1);
}

TEST_CASE("every item of many producers reaches exactly one of many consumers", "[queue]") {
  constexpr int kThreads = 3;
  constexpr int kItems = 500;
  BoundedQueue<int> queue(4);
  std::vector<std::vector<int>> got(kThreads);
  std::vector<std::thread> producers;
  std::vector<std::thread> consumers;
  for (int p = 0; p < kThreads; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kItems; ++i) {
        if (!queue.push(p * kItems + i)) return;
      }
    });
    consumers.emplace_back([&, p] {
      while (auto item = queue.pop()) got[static_cast<std::size_t>(p)].push_back(*item);
    });
  }
  for (auto& thread : producers) thread.join();
  queue.close();
  for (auto& thread : consumers) thread.join();
  std::vector<int> all;
  for (const auto& part : got) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(std::size_t{kThreads} * kItems);
  std::iota(expected.begin(), expected.end(), 0);
  REQUIRE(all == expected);
}

}  // namespace
}  // namespace pacml
