#include "model/torch_runtime.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <torch/csrc/api/include/torch/version.h>

#include <limits>
#include <sstream>

#include "common/result.h"
#include "model/math_environment.h"

namespace pacml::model {
namespace {

constexpr int kMmapThreshold = 1 << 30;  // bytes; glibc gives larger blocks back at once

// Of address space: a buffer of OpenBLAS (128 MiB), the allocator's arena for the thread that asks
// for it (another 128 MiB while it is cut to size), and as much again for what comes later.
constexpr std::size_t kRoomForBlas = std::size_t{512} << 20;

void check_room() {
  void* const room =
      ::mmap(nullptr, kRoomForBlas, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    throw UserError("LibTorch needs " + std::to_string(kRoomForBlas >> 20) +
                    " MB more of address space than this process may have (ulimit -v)");
  }
  ::munmap(room, kRoomForBlas);
}

void take_work_memory() {
  const at::Tensor product = at::mm(at::ones({64, 64}), at::ones({64, 64}));
}

}  // namespace

void prepare_torch_runtime() {
  check_room();
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  // ATen does not know that its BLAS is OpenBLAS, and leaves its threads alone.
  using SetThreads = void (*)(int);
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); symbol != nullptr) {
    reinterpret_cast<SetThreads>(symbol)(1);
  }
  mallopt(M_MMAP_THRESHOLD, kMmapThreshold);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  take_work_memory();
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
