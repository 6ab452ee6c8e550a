#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pacml::env::zoo {

// Extents of one sample's tensor, without the mini-batch: {channels, height, width} of an image,
// {steps, width} of a sequence, {width} of a vector.
using Shape = std::vector<std::int64_t>;

inline constexpr double kElementBytes = 4;  // float32

[[nodiscard]] double num_elements(const Shape& shape);

// What running an op once for the whole mini-batch takes, whatever it runs on.
struct Work {
  double flops = 0;           // multiplication and addition count as two
  double half_flops = 0;      // ... of 16-bit numbers, in matrix products
  double memory_bytes = 0;    // read from and written to the device's memory
  double launches = 0;        // kernels started one after another
  double decoded_images = 0;  // by the host
  double host_bytes = 0;      // copied from the host to the device
};

struct Layer {
  std::string description;
  std::vector<int> inputs = {};  // positions of the layers that it reads, all smaller than its own
  Shape output = {};
  double parameters = 0;     // trained numbers
  double multiply_adds = 0;  // of the forward pass for one sample, in matrix products alone
  double element_bytes = kElementBytes;  // of the output
  Work forward = {};
  Work backward = {};
};

// A model described layer by layer, for a mini-batch, on no device in particular. Numbers are
// float32. Value type.
struct Network {
  std::string model;
  int batch = 0;  // samples
  std::vector<Layer> layers;

  [[nodiscard]] double parameters() const;
  [[nodiscard]] double multiply_adds() const;  // of one sample's forward pass
};

}  // namespace pacml::env::zoo
