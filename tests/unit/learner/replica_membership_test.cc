#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "learner/replicas/membership.h"
#include "learner/replicas/replicas.h"
#include "tests/support/catch.h"
#include "tests/support/threaded_group.h"

namespace pacml::learner {
namespace {

using std::chrono::milliseconds;

const ReplicaAgreement kAgreed{"run-a", "seed: 1\n"};

MembershipConfig config(std::uint32_t replicas, milliseconds gathering = milliseconds(60'000)) {
  return {.replicas = replicas,
          .gathering = gathering,
          .interval = milliseconds(1),
          .freshness = milliseconds(60'000)};
}

std::vector<std::uint32_t> members(const Result<Team>& team) {
  return team ? team->replicas : std::vector<std::uint32_t>{};
}

TEST_CASE("all that are there make up a team, in the order of their numbers", "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(3));
  Follower second(board, 2, kAgreed, config(3));
  Follower first(board, 1, kAgreed, config(3));
  std::vector<Result<Team>> teams(3);
  on_threads(3, [&](std::size_t n) {
    Membership* member = n == 0 ? static_cast<Membership*>(&leader) : n == 1 ? &first : &second;
    teams[n] = member->assemble({});
  });
  for (std::size_t n = 0; n < 3; ++n) {
    CHECK(members(teams[n]) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(teams[n]->rank == n);
    CHECK(teams[n]->call == teams[0]->call);
  }
  CHECK_FALSE(leader.awaited());
}

TEST_CASE("whoever does not come in time is left out, and taken in by a later call",
          "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(3, milliseconds(50)));
  const auto alone_team = leader.assemble({});
  CHECK(members(alone_team) == std::vector<std::uint32_t>{0});
  CHECK_FALSE(leader.awaited());

  Follower late(board, 2, kAgreed, config(3));
  Result<Team> team;
  std::jthread thread([&] { team = late.assemble({}); });
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (!leader.awaited()) REQUIRE_FALSE(deadline.expired());
  const auto both = leader.assemble({});
  thread.join();
  CHECK(members(both) == std::vector<std::uint32_t>{0, 2});
  CHECK(members(team) == members(both));
  CHECK(team->rank == 1);
  CHECK(both->call != alone_team->call);
}

TEST_CASE("a follower does not return to a team that it has lost", "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(2));
  Follower follower(board, 1, kAgreed, config(2));
  std::vector<std::string> calls;
  for (int n = 0; n < 3; ++n) {
    Result<Team> team;
    Result<Team> leaders;
    on_threads(2, [&](std::size_t who) {
      // The follower is first to lose the team, and looks at the board while nobody has called.
      if (who == 1) team = follower.assemble({});
      if (who == 0) {
        const Deadline deadline = Deadline::in(std::chrono::seconds(60));
        while (!leader.awaited() && !deadline.expired()) std::this_thread::yield();
        leaders = leader.assemble({});
      }
    });
    REQUIRE(team);
    CHECK(members(team) == members(leaders));
    calls.push_back(team->call);
  }
  CHECK(calls[0] != calls[1]);
  CHECK(calls[1] != calls[2]);
}

TEST_CASE("a replica that was born again is another one", "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(2));
  std::optional<Follower> follower(std::in_place, board, 1, kAgreed, config(2));
  on_threads(2, [&](std::size_t who) {
    static_cast<void>(who == 0 ? leader.assemble({}) : follower->assemble({}));
  });
  follower.emplace(board, 1, kAgreed, config(2));
  std::stop_source stop;
  std::jthread thread([&] { static_cast<void>(follower->assemble(stop.get_token())); });
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (!leader.awaited()) REQUIRE_FALSE(deadline.expired());
  stop.request_stop();
}

TEST_CASE("a follower of another run or configuration says so", "[unit][learner]") {
  LocalBoard board;
  const Leader leader(board, kAgreed, config(2));
  Follower stranger(board, 1, {"run-b", kAgreed.config_text}, config(2));
  CHECK_THROWS_WITH(stranger.assemble({}), Catch::Contains("run-b") && Catch::Contains("run-a"));
  Follower other(board, 1, {kAgreed.run_id, "seed: 2\n"}, config(2));
  CHECK_THROWS_WITH(other.assemble({}), Catch::Contains("seed"));
}

TEST_CASE("followers wait for a leader until they are stopped or the run is over",
          "[unit][learner]") {
  LocalBoard board;
  Follower follower(board, 1, kAgreed, config(2));
  std::stop_source stop;
  Result<Team> team;
  {
    std::jthread thread([&] { team = follower.assemble(stop.get_token()); });
    stop.request_stop();
  }
  CHECK(team.error().code == Errc::kStopped);
  Leader leader(board, kAgreed, config(2));
  leader.end_run();
  CHECK(follower.assemble({}).error().code == Errc::kStopped);
}

TEST_CASE("a replica leaves a group that fails, and enters the next one", "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(2, milliseconds(200)));
  std::vector<double> all;
  const double one = 1;
  int connections = 0;
  Replicas replicas(leader, [&](const Team&, Board&) -> Result<std::unique_ptr<ReplicaGroup>> {
    ++connections;
    return fail(Errc::kTimeout);
  });
  // Before the first group.
  CHECK(replicas.gather({&one, 1}, all).error().code == Errc::kDisconnected);
  CHECK(replicas.size() > 1);
  REQUIRE(replicas.regroup({}));
  CHECK(connections == 0);
  CHECK(replicas.size() == 1);
  CHECK(replicas.gather({&one, 1}, all));

  // A member that answers every call and then does not come.
  std::stop_source stop;
  Follower follower(board, 1, kAgreed, config(2));
  std::jthread thread([&] {
    if (follower.assemble(stop.get_token())) connections += 10;
  });
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (!replicas.awaited()) REQUIRE_FALSE(deadline.expired());
  while (replicas.regroup({}) && connections == 0) REQUIRE_FALSE(deadline.expired());
  thread.join();
  CHECK(connections >= 11);  // it was tried, and then gone on without it
  CHECK(replicas.size() == 1);
}

}  // namespace
}  // namespace pacml::learner
