#include "model/math_environment.h"

#include "tests/support/catch.h"

namespace pacml::model {
namespace {

constexpr ProcessorFeatures kOld{};
constexpr ProcessorFeatures kAvx2{.amd = false, .avx2 = true, .avx512 = false};
constexpr ProcessorFeatures kAvx512{.amd = false, .avx2 = true, .avx512 = true};
constexpr ProcessorFeatures kAmd{.amd = true, .avx2 = true, .avx512 = false};
constexpr ProcessorFeatures kAmdAvx512{.amd = true, .avx2 = true, .avx512 = true};

TEST_CASE("a processor that OpenBLAS does not know gets the kernels that it can run") {
  CHECK(choose_blas_kernel(kAvx512, "Prescott") == "SkylakeX");
  CHECK(choose_blas_kernel(kAvx2, "Prescott") == "Haswell");
  CHECK(choose_blas_kernel(kAmd, "Prescott") == "Zen");
  CHECK(choose_blas_kernel(kAmdAvx512, "Barcelona") == "SkylakeX");
  CHECK(choose_blas_kernel(kAvx2, "Sandybridge") == "Haswell");
}

TEST_CASE("a processor without AVX2 keeps what OpenBLAS chose") {
  CHECK(choose_blas_kernel(kOld, "Prescott").empty());
  CHECK(choose_blas_kernel(kOld, "Sandybridge").empty());
}

TEST_CASE("kernels that OpenBLAS chose for a processor that it knows stay") {
  for (const auto* const known : {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"}) {
    INFO(known);
    CHECK(choose_blas_kernel(kAvx512, known).empty());
    CHECK(choose_blas_kernel(kAvx2, known).empty());
  }
}

TEST_CASE("without OpenBLAS there is nothing to choose") {
  CHECK(choose_blas_kernel(kAvx512, "").empty());
  CHECK_FALSE(blas_kernel_in_use().has_value());  // this program has none
}

TEST_CASE("AVX-512 includes AVX2 on every processor") {
  const auto processor = this_processor();
  CHECK((!processor.avx512 || processor.avx2));
}

}  // namespace
}  // namespace pacml::model
