#include "model/torch_runtime.h"

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "common/result.h"
#include "model/math_environment.h"
#include "tests/support/catch.h"

namespace pacml::model {
namespace {

// This process may have so many bytes of address space more than it has now, and no more.
class RoomFor {
 public:
  explicit RoomFor(rlim_t bytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    const rlimit narrow{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes,
                        before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &narrow) == 0);
  }
  RoomFor(const RoomFor&) = delete;
  RoomFor& operator=(const RoomFor&) = delete;
  ~RoomFor() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("torch computes on one thread once its runtime is prepared", "[unit][model_torch]") {
  prepare_torch_runtime();
  REQUIRE(at::get_num_threads() == 1);
  REQUIRE(at::get_num_interop_threads() == 1);
}

TEST_CASE("where there is no room for what torch needs, that is said", "[unit][model_torch]") {
  const RoomFor little(rlim_t{128} << 20);
  CHECK_THROWS_MATCHES(prepare_torch_runtime(), UserError,
                       Catch::Message("LibTorch needs 512 MB more of address space than this "
                                      "process may have (ulimit -v)"));
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
