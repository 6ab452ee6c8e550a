#include "common/serving/farewell.h"

#include <map>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::serving {
namespace {

using namespace std::chrono_literals;
using transport::PeerId;

const PeerId kFirst{"first"};
const PeerId kSecond{"second"};
const PeerId kThird{"third"};
const std::map<ActorId, PeerId> kPresent{{ActorId{1}, kFirst}, {ActorId{2}, kSecond}};

TEST_CASE("nobody has to be told anything where nobody is there") {
  CHECK(Farewell({}, 5s).over());
}

TEST_CASE("every peer is told again until it has confirmed") {
  ManualClock clock;
  Farewell farewell(kPresent, 5s, clock);
  CHECK(farewell.due() == std::vector{kFirst, kSecond});
  CHECK(farewell.due().empty());
  CHECK_FALSE(farewell.over());
  farewell.confirmed(kFirst);
  clock.advance(Farewell::kAgain);
  CHECK(farewell.due() == std::vector{kSecond});
  CHECK(farewell.unconfirmed() == 1);
  farewell.confirmed(kSecond);
  CHECK(farewell.over());
  CHECK(farewell.due().empty());
}

TEST_CASE("whoever never confirms is waited for no longer than the patience") {
  ManualClock clock;
  Farewell farewell(kPresent, 5s, clock);
  clock.advance(5s - Duration(1));
  CHECK_FALSE(farewell.over());
  clock.advance(Duration(1));
  CHECK(farewell.over());
  CHECK(farewell.unconfirmed() == 2);
}

TEST_CASE("a peer whose connection has gone may come back, for a while, and is told then") {
  ManualClock clock;
  Farewell farewell(kPresent, 60s, clock);
  farewell.confirmed(kSecond);
  farewell.gone(kFirst);
  clock.advance(Farewell::kMayComeBack - Duration(1));
  CHECK_FALSE(farewell.over());
  CHECK(farewell.due().empty());
  SECTION("it comes") {
    CHECK(farewell.came_back(ActorId{1}, kThird));
    clock.advance(Farewell::kMayComeBack);
    CHECK_FALSE(farewell.over());
    CHECK(farewell.due() == std::vector{kThird});
    farewell.confirmed(kThird);
  }
  SECTION("it does not come") {
    farewell.gone(kFirst);  // that is no news
    clock.advance(Duration(1));
  }
  CHECK(farewell.over());
  CHECK(farewell.unconfirmed() == 0);
}

TEST_CASE("nobody waits for the confirmation of one that was not there, or has confirmed") {
  Farewell farewell(kPresent, 5s);
  farewell.confirmed(kFirst);
  CHECK_FALSE(farewell.came_back(ActorId{1}, kThird));
  CHECK_FALSE(farewell.came_back(ActorId{7}, kThird));
}

}  // namespace
}  // namespace pacml::serving
