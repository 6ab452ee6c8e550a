#include "planning/race.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::planning {
namespace {

constexpr std::array<int, 3> kActions = {7, 1, 4};

std::vector<int> running(const Race& race) {
  return {race.running().begin(), race.running().end()};
}

TEST_CASE("what runs is worth its mean, and as much of what was said of it as is asked for",
          "[planning]") {
  Race race(kActions, std::array{10.0, 20.0, 30.0}, 0.75);
  race.add(std::array{1.0, 2.0, 3.0, 3.0, 6.0, 3.0});
  REQUIRE(race.futures() == 2);
  CHECK(race.worth(race.runners()[0]) == 0.75 * 2 + 0.25 * 10);
  CHECK(race.worth(race.runners()[1]) == 0.75 * 4 + 0.25 * 20);
  CHECK(race.worth(race.runners()[2]) == 0.75 * 3 + 0.25 * 30);
  CHECK(race.best() == 4);
  Race without(kActions, {}, 0.75);
  without.add(std::array{1.0, 2.0, 2.0});
  CHECK(without.worth(without.runners()[2]) == 2);
  CHECK(without.best() == 1);  // of equals the first
}

TEST_CASE("who is behind by more than so many standard errors of the difference is out",
          "[planning]") {
  // Of eight futures, which differ much. The first is ahead of the second by 3 and -1 in turn, of
  // the third by exactly 0.01.
  std::vector<double> worth;
  double sum = 0;
  double squares = 0;
  for (int f = 0; f < 8; ++f) {
    const double future = 1000.0 * f;
    const double ahead = f % 2 == 0 ? 3 : -1;
    sum += ahead;
    squares += (ahead - 1) * (ahead - 1);
    worth.insert(worth.end(), {future, future - ahead, future - 0.01});
  }
  const double errors = sum / 8 / std::sqrt(squares / (8 * 7));
  Race race(kActions, {}, 1);
  race.add(worth);
  race.put_out(std::numeric_limits<double>::infinity());
  CHECK(running(race) == std::vector{7, 1, 4});
  race.put_out(1.01 * errors);
  CHECK(running(race) == std::vector{7, 1});  // what differs always by the same is certain
  race.put_out(0.99 * errors);
  CHECK(running(race) == std::vector{7});
  CHECK(race.best() == 7);
  CHECK(race.runners().size() == 3);
}

TEST_CASE("those that are out come to nothing further", "[planning]") {
  Race race(kActions, {}, 1);
  for (int f = 0; f < 8; ++f) race.add(std::array{0.0, 5.0, f % 2 == 0 ? 4.0 : 6.5});
  race.put_out(3);
  CHECK(running(race) == std::vector{1, 4});
  race.add(std::array{5.0, 9.0});
  CHECK(race.futures() == 9);
  CHECK(race.runners()[0].worth.size() == 8);
  CHECK(race.runners()[2].worth.back() == 9);
  CHECK(race.best() == 4);
}

TEST_CASE("seven futures are too few to put anybody out", "[planning]") {
  Race race(kActions, {}, 1);
  for (int f = 0; f < 7; ++f) race.add(std::array{0.0, 5.0, 6.0});
  race.put_out(1);
  CHECK(running(race) == std::vector{7, 1, 4});
  race.add(std::array{0.0, 5.0, 6.0});
  race.put_out(1);
  CHECK(running(race) == std::vector{4});
}

TEST_CASE("the best of a noisy race is seldom put out, and the others mostly are", "[planning]") {
  constexpr int kRaces = 2000;
  constexpr int kRounds = 4;
  constexpr int kRound = 16;
  std::mt19937_64 rng(3);
  std::normal_distribution<double> noise;
  int lost = 0;
  std::size_t played = 0;
  for (int r = 0; r < kRaces; ++r) {
    Race race(kActions, {}, 1);
    for (int round = 0; round < kRounds && race.running().size() > 1; ++round) {
      for (int f = 0; f < kRound; ++f) {
        const double future = 100 * noise(rng);
        std::vector<double> row;
        for (const int action : race.running()) {
          row.push_back(future + noise(rng) + (action == 1 ? 1 : 0));
        }
        race.add(row);
      }
      race.put_out(2.5);
    }
    lost += race.best() == 1 ? 0 : 1;
    for (const Race::Runner& runner : race.runners()) played += runner.worth.size();
  }
  CHECK(lost <= kRaces / 100);
  CHECK(played < std::size_t{kRaces} * kRounds * kRound * kActions.size() / 2);
}

}  // namespace
}  // namespace pacml::planning
