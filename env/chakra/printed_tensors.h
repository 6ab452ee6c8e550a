#pragma once

#include <string_view>

namespace pacml::env {

// Bytes of the tensors in what PyTorch prints of an operation's values: a literal of Python in
// which a tensor is [id, storage, offset, elements, bytes of an element, 'device'], lists of
// tensors and other values being around and beside them. What is no tensor counts nothing. Pure.
[[nodiscard]] double bytes_of_printed_tensors(std::string_view values);

}  // namespace pacml::env
