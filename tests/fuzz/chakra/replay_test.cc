#include "tests/fuzz/chakra/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the reader of Chakra's traces survives its corpus and damages to it", "[fuzz]") {
  testing::replay_corpus("tests/fuzz/chakra/corpus/trace", fuzz::chakra_trace, 2, 500);
}

}  // namespace pacml
