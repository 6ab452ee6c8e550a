#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "learner/replicas/membership.h"
#include "learner/replicas/replicas.h"
#include "tests/support/catch.h"
#include "tests/support/soon.h"
#include "tests/support/threaded_group.h"

namespace pacml::learner {
namespace {

using std::chrono::milliseconds;

const ReplicaAgreement kAgreed{"run-a", "seed: 1\n"};

// Of another process each time.
MembershipConfig config(std::uint32_t replicas, milliseconds gathering = milliseconds(60'000)) {
  static std::uint64_t lives = 0;
  return {.replicas = replicas,
          .life = ++lives,
          .gathering = gathering,
          .interval = milliseconds(1),
          .freshness = milliseconds(60'000),
          .farewell = milliseconds(60'000)};
}

std::vector<std::uint32_t> members(const Result<Team>& team) {
  return team ? team->replicas : std::vector<std::uint32_t>{};
}

TEST_CASE("what does not fit the board is said at once, not waited for", "[unit][learner]") {
  LocalBoard board({.value_bytes = 8});
  CHECK_THROWS_AS(Leader(board, kAgreed, config(2)), UserError);
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
  const Deadline deadline = testing::soon();
  while (!leader.awaited()) REQUIRE_FALSE(deadline.expired());
  auto both = leader.assemble({});
  // It may have had no turn in that time: it is as late as it was then.
  while (members(both) != std::vector<std::uint32_t>{0, 2}) {
    REQUIRE_FALSE(deadline.expired());
    both = leader.assemble({});
  }
  thread.join();
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
        const Deadline deadline = testing::soon();
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

// A follower that assembles on a thread of its own.
class Waiting {
 public:
  Waiting(LocalBoard& board, std::uint32_t replica, std::uint32_t replicas)
      : follower_(board, replica, kAgreed, config(replicas)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      try {
        team_ = follower_.assemble(stop);
      } catch (const UserError& error) {
        refusal_ = error.what();
      }
    });
  }
  const Result<Team>& team() { return thread_.join(), team_; }
  const std::string& refusal() { return thread_.join(), refusal_; }

 private:
  Follower follower_;
  Result<Team> team_ = fail(Errc::kStopped);
  std::string refusal_;
  std::jthread thread_;
};

TEST_CASE("a replica that was born again is in the next team", "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(2));
  {
    Waiting first(board, 1, 2);
    REQUIRE(leader.assemble({}));
    REQUIRE(first.team());
  }
  Waiting second(board, 1, 2);
  const auto team = leader.assemble({});  // the group of the first one has failed
  CHECK(members(team) == std::vector<std::uint32_t>{0, 1});
  CHECK(members(second.team()) == members(team));
}

TEST_CASE("a second process of a number does not part a team, and is refused in the end",
          "[unit][learner]") {
  LocalBoard board;
  ManualClock clock;
  Leader leader(board, kAgreed, config(2), clock);
  Waiting first(board, 1, 2);
  REQUIRE(leader.assemble({}));
  REQUIRE(first.team());
  const auto life = [&] { return board.get("here/1")->value_or("").substr(0, 16); };
  const std::string firsts = life();  // before the second one can have spoken
  Waiting second(board, 1, 2);
  testing::wait_until("the others have heard of it", [&] { return life() != firsts; });
  CHECK_FALSE(leader.awaited());
  CHECK_FALSE(board.get("taken/1")->has_value());
  clock.advance(MembershipConfig().double_patience);
  CHECK_FALSE(leader.awaited());
  CHECK_THAT(second.refusal(), Catch::Contains("replica 1 is another process already"));
}

TEST_CASE("a replica that cannot be reached is left out for longer and longer", "[unit][learner]") {
  LocalBoard board;
  ManualClock clock;
  Leader leader(board, kAgreed, config(2), clock);
  int failures = 0;
  Replicas leaders(leader, [&](const Team&, Board&) -> Result<std::unique_ptr<ReplicaGroup>> {
    ++failures;
    return fail(Errc::kTimeout, "its ports are closed");
  });
  Follower follower(board, 1, kAgreed, config(2));
  const std::jthread thread([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(follower.assemble(stop));
  });
  REQUIRE(leaders.regroup({}));
  CHECK(failures == 2);
  CHECK(leaders.size() == 1);
  const auto bench = MembershipConfig().bench;
  for (int n = 0; n < 3; ++n) {
    CHECK_FALSE(leaders.awaited());
    clock.advance(bench * (1 << n) - milliseconds(1));
    CHECK_FALSE(leaders.awaited());
    clock.advance(milliseconds(1));
    testing::wait_until("the others have heard of it", [&] { return leaders.awaited(); });
    REQUIRE(leaders.regroup({}));
    CHECK(failures == 3 + n);
    CHECK(leaders.size() == 1);
  }
}

TEST_CASE("a replica that was reached before is not suspected beside one that never was",
          "[unit][learner]") {
  LocalBoard board;
  ManualClock clock;
  Leader leader(board, kAgreed, config(3), clock);
  const auto team_with = [&](std::vector<Follower*> followers) {
    Result<Team> team;
    on_threads(followers.size() + 1, [&](std::size_t n) {
      if (n == 0) team = leader.assemble({});
      if (n > 0) static_cast<void>(followers[n - 1]->assemble({}));
    });
    return members(team);
  };
  const std::vector<std::uint32_t> all{0, 1, 2};
  Follower first(board, 1, kAgreed, config(3));
  Follower second(board, 2, kAgreed, config(3));
  REQUIRE(team_with({&first, &second}) == all);
  leader.came_about(true);
  Follower second_born_again(board, 2, kAgreed, config(3));
  for (int n = 0; n < 2; ++n) {
    CHECK(team_with({&first, &second_born_again}) == all);
    leader.came_about(false);
  }
  CHECK(team_with({&first}) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("who waits outside the team hears that the run is over before its leader goes",
          "[unit][learner]") {
  LocalBoard board;
  Leader leader(board, kAgreed, config(2, milliseconds(20)));
  REQUIRE(members(leader.assemble({})) == std::vector<std::uint32_t>{0});
  Waiting late(board, 1, 2);
  testing::wait_until("the others have heard of it", [&] { return leader.awaited(); });
  leader.end_run();
  CHECK(board.get("bye/1")->has_value());
  CHECK(late.team().error().code == Errc::kStopped);
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
    while (!stop.stop_requested()) static_cast<void>(follower.assemble(stop.get_token()));
  });
  testing::wait_until("the others have heard of it", [&] { return replicas.awaited(); });
  while (connections == 0) REQUIRE(replicas.regroup({}));  // until the member is in time
  stop.request_stop();
  CHECK(replicas.size() == 1);  // it was tried, and then gone on without it
}

}  // namespace
}  // namespace pacml::learner
