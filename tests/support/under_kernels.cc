// pacml_under_kernels SETTING PROGRAM [ARGUMENT...]: runs a program with the matrix kernels or the
// instruction set that SETTING names (OPENBLAS_CORETYPE=Haswell, ATEN_CPU_CAPABILITY=avx2, ...), if
// this processor has the instructions; says so and ends with kSkipped if it has not. A program of
// its own, since the libraries read these settings, and may run into missing instructions, before
// main() begins.

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include "model/math_environment.h"

namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of these tests
constexpr int kFailed = 1;

enum class Needs { kNothing, kAvx2, kAvx512 };
struct Setting {
  std::string_view value;
  Needs needs;
};
constexpr std::array kSettings{
    Setting{"OPENBLAS_CORETYPE=Prescott", Needs::kNothing},
    Setting{"OPENBLAS_CORETYPE=Haswell", Needs::kAvx2},
    Setting{"OPENBLAS_CORETYPE=Zen", Needs::kAvx2},
    Setting{"OPENBLAS_CORETYPE=SkylakeX", Needs::kAvx512},
    Setting{"ATEN_CPU_CAPABILITY=default", Needs::kNothing},
    Setting{"ATEN_CPU_CAPABILITY=avx2", Needs::kAvx2},
    Setting{"ATEN_CPU_CAPABILITY=avx512", Needs::kAvx512},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "pacml_under_kernels SETTING PROGRAM [ARGUMENT...]\n";
    return kFailed;
  }
  const std::string_view asked = argv[1];
  const auto processor = pacml::model::this_processor();
  for (const Setting& setting : kSettings) {
    if (setting.value != asked) continue;
    if (setting.needs == Needs::kAvx2 && !processor.avx2) {
      std::cout << "skipped: this processor lacks AVX2\n";
      return kSkipped;
    }
    if (setting.needs == Needs::kAvx512 && !processor.avx512) {
      std::cout << "skipped: this processor lacks AVX-512\n";
      return kSkipped;
    }
    ::putenv(argv[1]);
    ::execv(argv[2], argv + 2);
    std::cerr << "cannot run " << argv[2] << ": " << std::strerror(errno) << "\n";
    return kFailed;
  }
  std::cerr << "there is no setting " << asked << "\n";
  return kFailed;
}
