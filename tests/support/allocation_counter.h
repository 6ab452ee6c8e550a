#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

// Counts every allocation of the program that includes this, in one file only: it replaces the
// global operators.

namespace pacml::testing {
inline std::size_t allocations = 0;

inline void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  // aligned_alloc wants whole multiples of the alignment.
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace pacml::testing

// NOLINTBEGIN(misc-definitions-in-headers): once in a program, as said above
// Inlined, they would look to g++ like memory that is freed by another function than its own.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return pacml::testing::counted(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return pacml::testing::counted(size, static_cast<std::size_t>(alignment));
}
// The standard library's temporary buffers use this form; it must match the delete below.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++pacml::testing::allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
// NOLINTEND(misc-definitions-in-headers)
