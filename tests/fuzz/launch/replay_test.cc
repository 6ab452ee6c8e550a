#include "tests/fuzz/launch/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the list of hosts survives its corpus and damages to it", "[fuzz][launch]") {
  testing::replay_corpus("tests/fuzz/launch/corpus/hostfile", fuzz::hostfile, 3, 3000);
}

}  // namespace pacml
