#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/ids.h"

namespace pacml::model {

// One named weight inside the flat vector.
struct ParameterEntry {
  std::string name;
  std::vector<std::int64_t> shape;  // row-major; a Linear's weight is [out, in], as in torch
  std::size_t offset = 0;           // floats from the start
  std::size_t size = 0;             // floats
  bool operator==(const ParameterEntry&) const = default;
};

// Where each weight lies in the flat vector. Immutable.
struct ParameterLayout {
  std::vector<ParameterEntry> entries;
  std::size_t total = 0;   // floats
  std::uint64_t hash = 0;  // of names, shapes and offsets
  bool operator==(const ParameterLayout&) const = default;
};

// All weights of a network at one version: one flat float32 vector. What is broadcast, saved and
// hashed. Value type.
struct Parameters {
  PolicyVersion version;
  std::uint64_t layout_hash = 0;
  std::vector<float> values;  // [layout.total]
  bool operator==(const Parameters&) const = default;
};

// Whether these are weights of that network. Pure.
[[nodiscard]] inline bool fits(const Parameters& parameters, const ParameterLayout& layout) {
  return parameters.layout_hash == layout.hash && parameters.values.size() == layout.total;
}

}  // namespace pacml::model
