#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "env/environment.h"

namespace pacml::env {

// B observations, owned, columns apart: graph indices [B], globals row-major [B, G], masks
// row-major [B, A]. Ragged graphs are never padded: a row names its graph. Thread-confined.
class ObservationBatch {
 public:
  ObservationBatch() = default;
  ObservationBatch(std::size_t batch, int num_globals, int num_actions)
      : num_globals_(static_cast<std::size_t>(num_globals)),
        num_actions_(static_cast<std::size_t>(num_actions)) {
    resize(batch);
  }
  void resize(std::size_t batch) {
    graphs_.resize(batch);
    globals_.resize(batch * num_globals_);
    masks_.resize(batch * num_actions_);
  }
  [[nodiscard]] std::size_t size() const { return graphs_.size(); }
  [[nodiscard]] std::size_t num_globals() const { return num_globals_; }
  [[nodiscard]] std::size_t num_actions() const { return num_actions_; }
  [[nodiscard]] ObservationRow row(std::size_t b) {
    return {graphs_[b], std::span(globals_).subspan(b * num_globals_, num_globals_),
            std::span(masks_).subspan(b * num_actions_, num_actions_)};
  }
  [[nodiscard]] std::int32_t graph(std::size_t b) const { return graphs_[b]; }
  [[nodiscard]] std::span<const float> globals(std::size_t b) const {
    return std::span(globals_).subspan(b * num_globals_, num_globals_);
  }
  [[nodiscard]] std::span<const std::uint8_t> mask(std::size_t b) const {
    return std::span(masks_).subspan(b * num_actions_, num_actions_);
  }
  // Whole columns, for packing and for networks.
  [[nodiscard]] std::span<const std::int32_t> graphs() const { return graphs_; }
  [[nodiscard]] std::span<const float> globals() const { return globals_; }
  [[nodiscard]] std::span<const std::uint8_t> masks() const { return masks_; }
  [[nodiscard]] std::span<std::int32_t> mutable_graphs() { return graphs_; }
  [[nodiscard]] std::span<float> mutable_globals() { return globals_; }
  [[nodiscard]] std::span<std::uint8_t> mutable_masks() { return masks_; }

 private:
  std::size_t num_globals_ = 0;
  std::size_t num_actions_ = 0;
  std::vector<std::int32_t> graphs_;
  std::vector<float> globals_;
  std::vector<std::uint8_t> masks_;
};

}  // namespace pacml::env
