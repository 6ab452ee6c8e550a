#include "model/math_environment.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace pacml::model {
namespace {

struct Variable {
  const char* name;
  const char* value;
};
constexpr std::array kSingleThreadedMath{
    Variable{"OPENBLAS_NUM_THREADS", "1"},
    Variable{"OMP_NUM_THREADS", "1"},
    Variable{"OMP_WAIT_POLICY", "passive"},
};

constexpr const char* kBlasKernel = "OPENBLAS_CORETYPE";

// OpenBLAS's kernels for processors that have no AVX2: chosen for one that has it, they are a
// fallback. Kernels that are not listed are for processors that it knows.
constexpr std::array<std::string_view, 18> kBeforeAvx2{
    "Generic",   "Katmai",     "Coppermine", "Northwood", "Prescott",    "Core2",
    "Penryn",    "Dunnington", "Nehalem",    "Athlon",    "Opteron",     "Opteron_SSE3",
    "Barcelona", "Atom",       "Nano",       "Bobcat",    "Sandybridge", "unknown"};

}  // namespace

ProcessorFeatures this_processor() {
  ProcessorFeatures out;
#if defined(__x86_64__) || defined(__i386__)
  out.amd = __builtin_cpu_is("amd") != 0;
  out.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  out.avx512 = out.avx2 && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return out;
}

std::string_view choose_blas_kernel(const ProcessorFeatures& processor, std::string_view in_use) {
  if (std::ranges::find(kBeforeAvx2, in_use) == kBeforeAvx2.end()) return {};
  if (processor.avx512) return "SkylakeX";
  if (processor.avx2) return processor.amd ? "Zen" : "Haswell";
  return {};
}

std::optional<std::string> blas_kernel_in_use() {
  using CoreName = const char* (*)();
  void* const symbol = ::dlsym(RTLD_DEFAULT, "openblas_get_corename");
  if (symbol == nullptr) return std::nullopt;
  const char* const name = reinterpret_cast<CoreName>(symbol)();
  return name != nullptr ? std::optional<std::string>(name) : std::nullopt;
}

bool set_single_threaded_math() {
  bool was_set = true;
  for (const Variable& variable : kSingleThreadedMath) {
    const char* now = std::getenv(variable.name);
    if (now != nullptr && std::string_view(now) == variable.value) continue;
    was_set = false;
    ::setenv(variable.name, variable.value, 1);
  }
  return was_set;
}

void settle_math_environment(char** argv) {
  bool settled = set_single_threaded_math();
  if (std::getenv(kBlasKernel) == nullptr) {
    const std::string_view kernel =
        choose_blas_kernel(this_processor(), blas_kernel_in_use().value_or(""));
    if (!kernel.empty()) {
      ::setenv(kBlasKernel, std::string(kernel).c_str(), 1);
      settled = false;
    }
  }
  if (settled) return;
  ::execv("/proc/self/exe", argv);
  throw std::runtime_error(std::string("cannot start again: ") + std::strerror(errno));
}

}  // namespace pacml::model
