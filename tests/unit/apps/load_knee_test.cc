#include "apps/bench/load_knee.h"

#include <vector>

#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

TEST_CASE("the knee of a load is the fewest actors that yield nearly all", "[unit][apps]") {
  const std::vector<LoadYield> rising = {
      {1, 0, 100'000}, {8, 0, 284'000}, {64, 0, 285'500}, {256, 0, 300'000}};
  CHECK(knees_of(rising) == "knee: 64 actors; more of them add less than 5 %\n");
  // The last one, where every further actor still adds something.
  CHECK(knees_of(std::vector<LoadYield>{{1, 0, 100}, {2, 0, 200}, {4, 0, 400}}) ==
        "knee: 4 actors; more of them add less than 5 %\n");
  // Where too many do harm, those before.
  CHECK(knees_of(std::vector<LoadYield>{{1, 0, 390}, {2, 0, 400}, {4, 0, 100}}) ==
        "knee: 1 actors; more of them add less than 5 %\n");
}

TEST_CASE("the knee of a load does not depend on the order of its points", "[unit][apps]") {
  const std::vector<LoadYield> points = {{64, 0, 300}, {8, 0, 299}, {1, 0, 100}};
  CHECK(knees_of(points) == "knee: 8 actors; more of them add less than 5 %\n");
}

TEST_CASE("each number of shards has its own knee, of more than one point", "[unit][apps]") {
  const std::vector<LoadYield> points = {{1, 1, 500}, {8, 1, 510},   {1, 2, 500},
                                         {8, 2, 990}, {64, 2, 1000}, {8, 4, 2000}};
  CHECK(knees_of(points) ==
        "knee with 1 shards: 1 actors; more of them add less than 5 %\n"
        "knee with 2 shards: 8 actors; more of them add less than 5 %\n");
  CHECK(knees_of(std::vector<LoadYield>{{1, 0, 1}}).empty());
  CHECK(knees_of({}).empty());
}

TEST_CASE("a load that yields nothing has its knee at the fewest actors", "[unit][apps]") {
  CHECK(knees_of(std::vector<LoadYield>{{8, 0, 0}, {1, 0, 0}}) ==
        "knee: 1 actors; more of them add less than 5 %\n");
}

}  // namespace
}  // namespace pacml::apps
