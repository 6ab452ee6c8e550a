#include "model/torch_runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

#include <limits>

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

}  // namespace pacml::model
