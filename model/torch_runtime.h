#pragma once

#include <string>

namespace pacml::model {

// Settles how LibTorch uses this process; once, from main, before any tensor exists.
//  - One compute thread in ATen and in OpenBLAS: at this network's sizes a second one made training
//    slower. OpenBLAS starts its threads when it is loaded, so OPENBLAS_NUM_THREADS=1 in the
//    environment before exec also saves starting them; this call makes the result the same.
//  - Freed memory stays with the process: otherwise every batch maps and faults its tensors anew.
//  - OpenBLAS has its work memory, for which it would otherwise ask at its first product, again and
//    again, without an end or a word, where a limit (ulimit -v) leaves no room for it.
// UserError: there is no room.
void prepare_torch_runtime();

// What computes in this process: "LibTorch 1.13.1 with AVX512, OpenBLAS 0.3.21 with SkylakeX".
[[nodiscard]] std::string describe_torch_runtime();

}  // namespace pacml::model
