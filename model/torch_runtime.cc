#include "model/torch_runtime.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <malloc.h>
#include <torch/csrc/api/include/torch/version.h>

#include <limits>
#include <sstream>

#include "model/math_environment.h"

namespace pacml::model {
namespace {

constexpr int kMmapThreshold = 1 << 30;  // bytes; glibc gives larger blocks back at once

}  // namespace

void prepare_torch_runtime() {
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  // ATen does not know that its BLAS is OpenBLAS, and leaves its threads alone.
  using SetThreads = void (*)(int);
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); symbol != nullptr) {
    reinterpret_cast<SetThreads>(symbol)(1);
  }
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

std::string describe_torch_runtime() {
  // Nothing else tells which of its compilations ATen has chosen.
  constexpr std::string_view kUsed = "CPU capability usage: ";
  std::string instructions = "unknown instructions";
  std::istringstream lines(at::show_config());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(kUsed);
    if (at != std::string::npos) instructions = line.substr(at + kUsed.size());
  }
  std::string blas = "another BLAS";
  if (const auto kernel = blas_kernel_in_use()) {
    using Config = const char* (*)();
    void* const symbol = dlsym(RTLD_DEFAULT, "openblas_get_config");
    std::istringstream words(symbol != nullptr ? reinterpret_cast<Config>(symbol)() : "");
    std::string library;
    std::string version;
    words >> library >> version;  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    blas = "OpenBLAS " + version + " with " + *kernel;
  }
  return "LibTorch " TORCH_VERSION " with " + instructions + ", " + blas;
}

}  // namespace pacml::model
