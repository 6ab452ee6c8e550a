#include "model/torch_runtime.h"

#include <ATen/Parallel.h>

#include <cstdlib>
#include <string>

#include "model/math_environment.h"
#include "tests/support/catch.h"

namespace pacml::model {
namespace {

TEST_CASE("torch computes on one thread once its runtime is prepared", "[unit][model_torch]") {
  prepare_torch_runtime();
  REQUIRE(at::get_num_threads() == 1);
  REQUIRE(at::get_num_interop_threads() == 1);
}

TEST_CASE("the runtime names the kernels that it computes with", "[unit][model_torch]") {
  const std::string text = describe_torch_runtime();
  CHECK_THAT(text, Catch::StartsWith("LibTorch "));
  if (const auto kernel = blas_kernel_in_use()) CHECK_THAT(text, Catch::EndsWith(*kernel));
  if (const char* asked = std::getenv("OPENBLAS_CORETYPE"); asked != nullptr) {
    CHECK(blas_kernel_in_use() == std::string(asked));
  }
  if (const char* asked = std::getenv("ATEN_CPU_CAPABILITY"); asked != nullptr) {
    // LibTorch's own word for "default", on processors that could do more.
    const std::string name = std::string(asked) == "default" ? "no avx" : asked;
    CHECK_THAT(text, Catch::Contains("with " + name, Catch::CaseSensitive::No));
  }
}

TEST_CASE("no test of numbers runs with kernels that OpenBLAS fell back to, unless it was asked to",
          "[unit][model_torch]") {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  CHECK(choose_blas_kernel(this_processor(), blas_kernel_in_use().value_or("")).empty());
}

}  // namespace
}  // namespace pacml::model
