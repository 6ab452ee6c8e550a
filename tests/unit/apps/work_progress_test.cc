#include "apps/cli/work_progress.h"

#include <chrono>
#include <sstream>
#include <string>

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("work that is done soon says nothing", "[unit][apps]") {
  for (const bool is_terminal : {false, true}) {
    std::ostringstream out;
    ManualClock clock;
    {
      WorkProgress progress("episodes", out, is_terminal, clock);
      for (std::size_t i = 1; i <= 10; ++i) {
        clock.advance(milliseconds{90});
        progress.tell(i, 10);
      }
    }
    CHECK(out.str().empty());
  }
}

TEST_CASE("long work says a line every ten seconds, with what is left", "[unit][apps]") {
  std::ostringstream out;
  ManualClock clock;
  WorkProgress progress("episodes", out, false, clock);
  for (std::size_t i = 1; i <= 40; ++i) {
    clock.advance(seconds{1});
    progress.tell(i, 100);
  }
  progress.tell(12, 100);  // comes late
  CHECK(out.str() ==
        "10 of 100 episodes, 10 s gone, some 2 min left\n"
        "20 of 100 episodes, 20 s gone, some 1 min left\n"
        "30 of 100 episodes, 30 s gone, some 1 min left\n"
        "40 of 100 episodes, 40 s gone, some 1 min left\n");
}

TEST_CASE("further work begins anew", "[unit][apps]") {
  std::ostringstream out;
  ManualClock clock;
  WorkProgress progress("episodes", out, false, clock);
  for (const std::size_t all : {40, 20}) {
    for (std::size_t i = 1; i <= all; ++i) {
      clock.advance(seconds{1});
      progress.tell(i, all);
    }
  }
  CHECK(out.str() ==
        "10 of 40 episodes, 10 s gone, some 30 s left\n"
        "20 of 40 episodes, 20 s gone, some 20 s left\n"
        "30 of 40 episodes, 30 s gone, some 10 s left\n"
        "40 of 40 episodes, 40 s gone, some 0 s left\n"
        "10 of 20 episodes, 10 s gone, some 10 s left\n"
        "20 of 20 episodes, 20 s gone, some 0 s left\n");
}

TEST_CASE("on a terminal one line is rewritten, and gone at the end", "[unit][apps]") {
  std::ostringstream out;
  ManualClock clock;
  {
    WorkProgress progress("figures", out, true, clock);
    clock.advance(seconds{2});
    progress.tell(1, 4);
    progress.tell(2, 4);  // too soon to be read
    clock.advance(seconds{2});
    progress.tell(3, 4);
  }
  CHECK(out.str() ==
        "\r\033[K1 of 4 figures, 2 s gone, some 6 s left"
        "\r\033[K3 of 4 figures, 4 s gone, some 2 s left\r\033[K");
}

}  // namespace
}  // namespace pacml::apps
