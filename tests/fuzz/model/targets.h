#pragma once

#include <cstddef>
#include <span>

#include "model/parameters.h"

namespace pacml::fuzz {

// Of the parameter files that the target reads.
[[nodiscard]] const model::ParameterLayout& parameters_layout();

// Reads a parameter file, once from the bytes as they are and once as they are before its closing
// hash, which the target adds, so that damage gets past it. What is read must survive being written
// and read again. True when the latter was read.
bool parameters(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz
