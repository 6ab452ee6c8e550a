// Compiled with AVX2 and FMA enabled for this file alone (model/CMakeLists.txt), where the target
// has them.
#if defined(__AVX2__) && defined(__FMA__)
#include "model/kernels/kernel_body.inc"

namespace pacml::model {

const Kernel* avx2_kernel() {
  static constexpr Kernel kKernel{&embed_graph, &decide, &score,        &value,
                                  &linear,      &norm,   &mean_messages};
  return &kKernel;
}

}  // namespace pacml::model
#else
#include "model/kernels/kernel.h"

namespace pacml::model {

const Kernel* avx2_kernel() { return nullptr; }

}  // namespace pacml::model
#endif
