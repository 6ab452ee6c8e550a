#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pacml::env {

using Extents = std::vector<std::int64_t>;

// Bounds on what a file may ask for: as far as numbers stay exact and lists short.
inline constexpr std::size_t kMostAxes = 16;
inline constexpr double kMostElements = 0x1p40;
inline constexpr std::size_t kMostValues = 64;    // of a tensor whose values are followed
inline constexpr std::int64_t kMostParts = 1024;  // of a sequence of tensors

// What is known of a tensor before anything runs. Value type.
struct OnnxTensor {
  int type = 1;  // onnx::TensorProto::DataType; float32
  Extents extents = {};
  // Of a small tensor that does not depend on data: shapes, axes, scales.
  std::optional<std::vector<double>> values = std::nullopt;
  bool is_constant = false;     // does not depend on data
  bool needs_gradient = false;  // ... and depends on something that is trained
  double repeats = 1;  // so often a mini-batch of the file's size is in the one that is asked for
  int op = -1;         // the imported op that computes it; -1: none
  std::vector<int> weights = {};  // the initialisers that a constant is made of
  // Of a sequence of tensors: theirs, its own extents being those of all together.
  std::vector<Extents> parts = {};

  [[nodiscard]] double elements() const;  // in the mini-batch that is asked for
  [[nodiscard]] double bytes() const;
  [[nodiscard]] std::size_t num_axes() const { return extents.size(); }
};

[[nodiscard]] double product_of(const Extents& extents);
// 0: nothing that is known.
[[nodiscard]] double element_bytes(int type);
[[nodiscard]] bool is_floating(int type);
// "32x3x224x224"; "scalar".
[[nodiscard]] std::string to_text(const Extents& extents);

}  // namespace pacml::env
