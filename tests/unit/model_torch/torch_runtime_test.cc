#include "model/torch_runtime.h"

#include <ATen/Parallel.h>

#include "tests/support/catch.h"

namespace pacml::model {
namespace {

TEST_CASE("torch computes on one thread once its runtime is prepared", "[unit][model_torch]") {
  prepare_torch_runtime();
  REQUIRE(at::get_num_threads() == 1);
  REQUIRE(at::get_num_interop_threads() == 1);
}

}  // namespace
}  // namespace pacml::model
