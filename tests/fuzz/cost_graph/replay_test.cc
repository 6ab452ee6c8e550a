#include "tests/fuzz/cost_graph/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the reader of cost graphs survives its corpus and damages to it", "[fuzz]") {
  testing::replay_corpus("tests/fuzz/cost_graph/corpus/text", fuzz::cost_graph, 2, 500);
}

}  // namespace pacml
