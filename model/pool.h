#pragma once

#include <algorithm>
#include <cstddef>

namespace pacml::model {

// [mean ; maximum] of `count` rows of `width` floats, each `stride` behind the one before, into
// out [2 width]. Pre: count > 0.
inline void mean_and_maximum(const float* rows, std::size_t count, std::size_t width,
                             std::size_t stride, float* out) {
  std::copy_n(rows, width, out);
  std::copy_n(rows, width, out + width);
  for (std::size_t r = 1; r < count; ++r) {
    const float* row = rows + r * stride;
    for (std::size_t i = 0; i < width; ++i) {
      out[i] += row[i];
      out[width + i] = std::max(out[width + i], row[i]);
    }
  }
  const float share = 1.0F / static_cast<float>(count);
  for (std::size_t i = 0; i < width; ++i) out[i] *= share;
}

}  // namespace pacml::model
