#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace pacml::learner {

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;  // row-major
  std::vector<float> values;        // as many as the shape says
  bool operator==(const NamedTensor&) const = default;
};

// A file in the safetensors format (github.com/huggingface/safetensors): named float32 tensors and
// texts, which any language reads without running code. Value type.
//
//   u64    length of the header
//   char[] header: JSON {"name": {"dtype": "F32", "shape": [..], "data_offsets": [from, to]}, ..,
//          "__metadata__": {"key": "text", ..}}, filled up with spaces to a multiple of 8
//   bytes  the values, little-endian, one tensor after the other without gaps
struct Safetensors {
  std::vector<NamedTensor> tensors;  // in the order of their values; names are unique
  std::map<std::string, std::string> metadata;
  bool operator==(const Safetensors&) const = default;
};

// Pre: shapes fit their values and names are unique (PACML_CHECK). Text that is not UTF-8 is
// replaced, for JSON holds no other. Pure.
[[nodiscard]] std::string encode_safetensors(const Safetensors& file);

// Any bytes are safe to pass. kCorruptFrame: not such a file, cut short, or with other types than
// F32; the error's detail continues a sentence that begins with the file's name. Pure.
[[nodiscard]] Result<Safetensors> decode_safetensors(std::string_view bytes);

}  // namespace pacml::learner
