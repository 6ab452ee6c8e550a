// For any machine, with the instructions that the whole program is compiled for.
#include "model/kernels/kernel_body.inc"

namespace pacml::model {

const Kernel& portable_kernel() {
  static constexpr Kernel kKernel{&embed_graph, &decide, &score,        &value,
                                  &linear,      &norm,   &mean_messages};
  return kKernel;
}

}  // namespace pacml::model
