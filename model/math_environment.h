#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pacml::model {

// What of a processor decides which matrix kernels it can run; as the system allows them, too.
struct ProcessorFeatures {
  bool amd = false;
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, CD, BW, DQ and VL
  bool operator==(const ProcessorFeatures&) const = default;
};

// Of the processor that this runs on; nothing is true of one that is not of the x86 family.
[[nodiscard]] ProcessorFeatures this_processor();

// The OpenBLAS kernels (a value of OPENBLAS_CORETYPE) to ask for in place of `in_use`, those that
// OpenBLAS has chosen by itself; empty: its choice stands. OpenBLAS knows processors by their model
// numbers and gives one that is newer than itself kernels from before AVX, which are two to four
// times slower than those that the processor can run. Pure.
[[nodiscard]] std::string_view choose_blas_kernel(const ProcessorFeatures& processor,
                                                  std::string_view in_use);

// The kernels that OpenBLAS uses in this process; nullopt: OpenBLAS is not part of it.
[[nodiscard]] std::optional<std::string> blas_kernel_in_use();

// OpenBLAS and OpenMP read their thread counts once, while the program loads, and two threads are
// slower than one on our matrix sizes: so these variables must be right before exec, whatever the
// shell or the batch system had set. True: they were. Thread-confined: before any other thread.
bool set_single_threaded_math();

// For main() of a program that links LibTorch, before anything else: makes the environment one in
// which its libraries compute on one thread and with kernels of this processor. They have read it
// when main() begins, so the program starts once more, with the same arguments, where it was not
// right: half a second, once, which whoever starts it may save by set_single_threaded_math(). What
// the user has set OPENBLAS_CORETYPE to stays. Comes back in a process that is as it should be;
// std::runtime_error: it cannot start again.
void settle_math_environment(char** argv);

}  // namespace pacml::model
