// For any machine, with the instructions that the whole program is compiled for.
#include "model/kernels/kernel_body.inc"

namespace pacml::model {

const Kernel kPortableKernel{&embed_graph, &decide};

}  // namespace pacml::model
