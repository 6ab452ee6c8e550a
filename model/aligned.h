#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace pacml::model {

// Allocates on cache-line boundaries, so that no vector load straddles two lines.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <class U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), kAlignment));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }
  bool operator==(const CacheLineAllocator&) const = default;
};

using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace pacml::model
