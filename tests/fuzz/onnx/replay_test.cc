#include "tests/fuzz/onnx/targets.h"
#include "tests/support/catch.h"
#include "tests/support/fuzz_corpus.h"

namespace pacml {

TEST_CASE("the reader of ONNX models survives its corpus and damages to it", "[fuzz][onnx]") {
  testing::replay_corpus("tests/fuzz/onnx/corpus/model", fuzz::model, 4, 300);
}

}  // namespace pacml
