#include "planning/search_config.h"

#include <cmath>

#include "common/result.h"
#include "tests/support/catch.h"

namespace pacml::planning {
namespace {

TEST_CASE("a search is spelled as its settings, each by itself optional", "[planning]") {
  CHECK(parse_search("") == SearchConfig{});
  const SearchConfig config = parse_search("K=16,H=5,gamma=0.9,gap=0.5,weight=0.6,race=3,ms=2.5");
  CHECK(config.futures == 16);
  CHECK(config.horizon == 5);
  CHECK(config.discount == 0.9);
  CHECK(config.gap == 0.5);
  CHECK(config.weight == 0.6);
  CHECK(config.race == 3);
  CHECK(config.seconds == 0.0025);
  CHECK(std::isinf(parse_search("race=inf").race));
  CHECK(std::isinf(parse_search("gap=inf").gap));
  CHECK(parse_search("K=3", config).horizon == 5);  // the rest as before
}

TEST_CASE("a search that cannot be is refused with a sentence", "[planning]") {
  CHECK_THROWS_WITH(parse_search("K=0"), "search: K: must be in 1..100000");
  CHECK_THROWS_WITH(parse_search("H=1.5"), "search: H is a whole number of at most 1e9");
  CHECK_THROWS_WITH(parse_search("H=inf"), "search: H is a whole number of at most 1e9");
  CHECK_THROWS_WITH(parse_search("K"), "search: K needs a value, as in K=1");
  CHECK_THROWS_WITH(parse_search("K=4,weight"), "search: weight needs a value, as in weight=1");
  CHECK_THROWS_WITH(parse_search("K=many"), "search: K=many is no number");
  CHECK_THROWS_WITH(parse_search("gamma=1.01"), "search: gamma: must be above 0 and at most 1");
  CHECK_THROWS_WITH(parse_search("gap=-1"), "search: gap: must be >= 0");
  CHECK_THROWS_WITH(parse_search("gap=nan"), "search: gap=nan is no number");
  CHECK_THROWS_WITH(parse_search("weight=1.5"), "search: weight: must be from 0 to 1");
  CHECK_THROWS_WITH(parse_search("race=0"), "search: race: must be > 0");
  CHECK_THROWS_WITH(parse_search("ms=1e30"), "search: ms: must be in 0..3600000");
  CHECK_THROWS_WITH(parse_search("gama=1"),
                    "search: there is no setting \"gama\"; did you mean 'gamma'?");
  CHECK_THROWS_WITH(parse_search("K=2,H=3,K=64"), "search: K is said twice");
  CHECK_THROWS_AS(parse_search(",K=4"), UserError);
  CHECK_THROWS_AS(parse_search("K=4,,H=3"), UserError);
  CHECK_THROWS_WITH(parse_search("K=4,"), "search: no setting stands behind the last comma");
  CHECK_THROWS_AS(parse_search(",,"), UserError);
}

}  // namespace
}  // namespace pacml::planning
