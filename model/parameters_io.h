#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "model/parameters.h"

namespace pacml::model {

// A parameter file, little-endian, without padding:
//
//   char[8]  "pacmlpar"
//   u32      format version, kParametersFormat
//   u64      policy version
//   u64      layout hash
//   u32      number of entries; for each: u32 length and characters of its name, u32 rank,
//            i64 extents [rank]
//   u64      number of floats
//   float32  values
//   u64      content hash (common/hash.h) of everything before
inline constexpr std::uint32_t kParametersFormat = 1;

// Pre: parameters of this layout (PACML_CHECK). Pure.
[[nodiscard]] std::string encode_parameters(const Parameters& parameters,
                                            const ParameterLayout& layout);

// What encode_parameters wrote, if it is whole, all its values are finite, and it is of the network
// that `layout` describes. Any bytes are safe to pass. The error's detail continues a sentence that
// begins with the file's name: "is a checkpoint of another network: ...". kCorruptFrame: damaged
// or no such file at all; kVersionMismatch: another format or network. Pure.
[[nodiscard]] Result<Parameters> decode_parameters(std::string_view bytes,
                                                   const ParameterLayout& layout);

// Writes the file atomically: a reader finds the old one or the new one, whole. kIo otherwise.
[[nodiscard]] Result<void> save_parameters(const std::filesystem::path& path,
                                           const Parameters& parameters,
                                           const ParameterLayout& layout);

// Throws UserError, one sentence that names the file and what is wrong with it.
[[nodiscard]] Parameters load_parameters(const std::filesystem::path& path,
                                         const ParameterLayout& layout);

}  // namespace pacml::model
