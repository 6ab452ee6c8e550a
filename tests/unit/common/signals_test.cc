#include "common/signals.h"

#include <algorithm>
#include <csignal>
#include <vector>

#include "common/asio.h"
#include "tests/support/catch.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

// Runs handlers, ours and the library's own, until `done` or for five seconds.
template <class Condition>
void run_until(asio::io_context& io, Condition done) {
  while (!done() && io.run_one_for(5s) > 0) {
  }
}

TEST_CASE("SIGTERM and SIGINT request a stop and call back each time", "[signals]") {
  asio::io_context io;
  std::vector<int> seen;
  Signals signals(io, {.stop = [&](int signal) { seen.push_back(signal); }, .checkpoint = {}});
  REQUIRE_FALSE(signals.token().stop_requested());
  std::raise(SIGTERM);
  std::raise(SIGINT);
  run_until(io, [&] { return seen.size() == 2; });
  REQUIRE(signals.token().stop_requested());
  std::sort(seen.begin(), seen.end());
  REQUIRE(seen == std::vector<int>{SIGINT, SIGTERM});
}

TEST_CASE("a terminal that hangs up requests a stop, unless that was to be ignored", "[signals]") {
  {
    asio::io_context io;
    std::vector<int> seen;
    Signals signals(io, {.stop = [&](int signal) { seen.push_back(signal); }, .checkpoint = {}});
    std::raise(SIGHUP);
    run_until(io, [&] { return !seen.empty(); });
    REQUIRE(seen == std::vector<int>{SIGHUP});
    REQUIRE(signals.token().stop_requested());
  }
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    asio::io_context io;
    std::vector<int> seen;
    Signals signals(io, {.stop = [&](int signal) { seen.push_back(signal); }, .checkpoint = {}});
    std::raise(SIGHUP);
    std::raise(SIGTERM);
    run_until(io, [&] { return !seen.empty(); });
    REQUIRE(seen == std::vector<int>{SIGTERM});
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("SIGUSR1 asks for a checkpoint and stops nothing", "[signals]") {
  asio::io_context io;
  int checkpoints = 0;
  Signals signals(io, {.stop = {}, .checkpoint = [&] { ++checkpoints; }});
  std::raise(SIGUSR1);
  run_until(io, [&] { return checkpoints > 0; });
  REQUIRE(checkpoints == 1);
  REQUIRE_FALSE(signals.token().stop_requested());
}

TEST_CASE("a request for a checkpoint that comes after the end is no harm", "[signals]") {
  asio::io_context io;
  { const Signals signals(io); }
  io.run_for(5s);
  std::raise(SIGUSR1);
  // Who listens again hears again.
  int checkpoints = 0;
  const Signals signals(io, {.stop = {}, .checkpoint = [&] { ++checkpoints; }});
  io.restart();
  std::raise(SIGUSR1);
  run_until(io, [&] { return checkpoints > 0; });
  REQUIRE(checkpoints == 1);
}

TEST_CASE("after cancel the event loop runs out of work", "[signals]") {
  asio::io_context io;
  Signals signals(io);
  signals.cancel();
  io.run_for(5s);
  REQUIRE(io.stopped());
}

TEST_CASE("a signal that comes with the destruction calls nobody", "[signals]") {
  asio::io_context io;
  bool called = false;
  {
    Signals signals(io, {.stop = [&](int) { called = true; }, .checkpoint = {}});
    std::raise(SIGTERM);
    io.run_one_for(5s);  // the library has seen it; our handler is in its queue
    REQUIRE_FALSE(called);
  }
  io.run_for(5s);
  REQUIRE_FALSE(called);
}

}  // namespace
}  // namespace pacml
