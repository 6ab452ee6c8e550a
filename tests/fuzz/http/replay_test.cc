#include "tests/fuzz/http/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the pages of a role survive their corpus and damages to it", "[fuzz][http]") {
  testing::replay_corpus("tests/fuzz/http/corpus/request", fuzz::http_request, 5, 30);
}

}  // namespace pacml
