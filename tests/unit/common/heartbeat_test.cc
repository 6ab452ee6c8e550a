#include "common/heartbeat.h"

#include <latch>
#include <string>
#include <thread>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

// A thread with a heartbeat that does what it is told, step by step.
class Watched {
 public:
  template <class Body>
  Watched(const std::string& name, Body body)
      : thread_([this, name, body] {
          const Heartbeat heart(name);
          body(there_, go_on_);
        }) {
    there_.wait();
  }
  ~Watched() {
    go_on_.count_down();
    thread_.join();
  }

 private:
  std::latch there_{1};
  std::latch go_on_{1};
  std::thread thread_;
};

void beat_and_wait(std::latch& there, std::latch& go_on) {
  beat();
  there.count_down();
  go_on.wait();
}

TEST_CASE("a thread that no longer beats is told from one that does, by its name",
          "[unit][common]") {
  CHECK_FALSE(longest_silence(steady().now()));
  CHECK(hung_thread(steady().now() + 1h, 30s).empty());
  const Watched learn("learn", beat_and_wait);
  const TimePoint now = steady().now();
  CHECK(hung_thread(now, 30s).empty());
  CHECK(hung_thread(now + 42s, 30s) == "thread learn has been silent for 42 s");
  const Watched serve("serve", beat_and_wait);  // beats later
  CHECK(longest_silence(now + 1h)->thread == "learn");
}

TEST_CASE("with no limit no thread ever hangs", "[unit][common]") {
  const Watched learn("learn", beat_and_wait);
  CHECK(hung_thread(steady().now() + 1000h, Duration{0}).empty());
}

TEST_CASE("a thread at rest is not expected to beat, and beats when it goes on", "[unit][common]") {
  const Watched disk("disk", [](std::latch& there, std::latch& go_on) {
    const Rest waits;
    const Rest nested;
    there.count_down();
    go_on.wait();
  });
  CHECK_FALSE(longest_silence(steady().now() + 1h));
}

TEST_CASE("a thread that has ended is missed by nobody", "[unit][common]") {
  { const Watched learn("learn", beat_and_wait); }
  CHECK_FALSE(longest_silence(steady().now() + 1h));
  beat();  // of a thread without a heart: nothing
}

TEST_CASE("a chore is done by the beats of its thread, while it exists", "[unit][common]") {
  int done = 0;
  beat();
  {
    const Chore count(Duration{0}, [&done] { ++done; });
    beat();
    beat();
    std::thread(beat).join();
    CHECK(done == 2);
  }
  beat();
  CHECK(done == 2);
}

TEST_CASE("a chore is done no more often than it says, and not from within itself",
          "[unit][common]") {
  int done = 0;
  SECTION("seldom") {
    const Chore seldom(1h, [&done] { ++done; });
    for (int i = 0; i < 10; ++i) beat();
    CHECK(done == 0);
  }
  SECTION("beats within") {
    const Chore nested(Duration{0}, [&done] {
      ++done;
      beat();
    });
    beat();
    CHECK(done == 1);
    beat();
    CHECK(done == 2);
  }
  SECTION("what it throws, the beat throws, and the next one does it again") {
    const Chore fails(Duration{0}, [&done] {
      if (++done == 1) throw UserError("no");
    });
    CHECK_THROWS_AS(beat(), UserError);
    beat();
    CHECK(done == 2);
  }
}

}  // namespace
}  // namespace pacml
