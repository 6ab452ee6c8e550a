#include "common/work_crew.h"

#include <array>
#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/catch.h"

namespace pacml {
namespace {

TEST_CASE("every part is done once, each on a thread of its own", "[unit][common]") {
  const std::size_t size = GENERATE(1, 2, 5);
  WorkCrew crew(size, "crew");
  REQUIRE(crew.size() == size);
  std::vector<int> done(size);
  std::vector<std::thread::id> threads(size);
  for (int round = 1; round <= 2'000; ++round) {
    crew.run([&](std::size_t number) {
      ++done[number];
      threads[number] = std::this_thread::get_id();
    });
    REQUIRE(done == std::vector<int>(size, round));
  }
  CHECK(threads.front() == std::this_thread::get_id());
  CHECK(std::set(threads.begin(), threads.end()).size() == size);
}

TEST_CASE("parts go on at the same time", "[unit][common]") {
  WorkCrew crew(3, "crew");
  std::atomic<int> here = 0;
  // Nobody would get on alone.
  crew.run([&](std::size_t) {
    ++here;
    while (here < 3) std::this_thread::yield();
  });
  CHECK(here == 3);
}

TEST_CASE("a part that fails lets the others finish, and the crew goes on", "[unit][common]") {
  WorkCrew crew(4, "crew");
  std::atomic<int> done = 0;
  const auto fail_in_some = [&](std::size_t number) {
    ++done;
    if (number % 2 == 1) throw std::runtime_error("part " + std::to_string(number));
  };
  for (int round = 1; round <= 3; ++round) {
    CHECK_THROWS_WITH(crew.run(fail_in_some), "part 1");
    CHECK(done == 4 * round);
  }
  CHECK_NOTHROW(crew.run([&](std::size_t) { ++done; }));
  CHECK(done == 16);
}

TEST_CASE("a crew that has nothing to do goes home", "[unit][common]") {
  const WorkCrew crew(8, "crew");
  CHECK(crew.size() == 8);
}

}  // namespace
}  // namespace pacml
