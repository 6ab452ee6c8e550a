// Compiled with AVX2 and FMA enabled for this file alone (model/CMakeLists.txt), where the target
// has them.
#include "model/kernels/kernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include "model/kernels/kernel_body.inc"

namespace pacml::model {
namespace {

const Kernel kKernel{&embed_graph, &decide};

}  // namespace

const Kernel* const kAvx2Kernel = &kKernel;

}  // namespace pacml::model
#else
namespace pacml::model {

const Kernel* const kAvx2Kernel = nullptr;

}  // namespace pacml::model
#endif
