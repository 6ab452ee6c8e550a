#include "model/parameters_io.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/atomic_file.h"
#include "common/bytes.h"
#include "common/check.h"
#include "common/finite.h"
#include "common/hash.h"
#include "common/raw_bytes.h"
#include "common/text.h"
#include "common/try_again.h"

namespace pacml::model {
namespace {

constexpr std::string_view kMagic = "pacmlpar";

// Names and shapes; offsets follow from them.
std::vector<ParameterEntry> read_entries(RawReader& reader) {
  std::vector<ParameterEntry> entries;
  const auto count = reader.take<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    ParameterEntry entry;
    entry.name = reader.take_text<std::uint32_t>();
    const auto rank = reader.take<std::uint32_t>();
    for (std::uint32_t d = 0; d < rank && reader.ok(); ++d) {
      entry.shape.push_back(reader.take<std::int64_t>());
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string spell_shape(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return "[" + join(extents) + "]";
}

// How the first entry that differs, differs; empty if none does.
std::string first_difference(const std::vector<ParameterEntry>& there,
                             const std::vector<ParameterEntry>& here) {
  for (std::size_t i = 0; i < std::max(there.size(), here.size()); ++i) {
    if (i >= there.size()) return "it has no " + here[i].name;
    if (i >= here.size()) return "it has " + there[i].name + ", which this network has not";
    if (there[i].name != here[i].name) {
      return "it has " + there[i].name + " where this network has " + here[i].name;
    }
    if (there[i].shape != here[i].shape) {
      return here[i].name + " is " + spell_shape(there[i].shape) + " in it and " +
             spell_shape(here[i].shape) + " in this network";
    }
  }
  return {};
}

// The file less its hash, if that is right.
Result<std::string_view> verified_body(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return fail(Errc::kCorruptFrame, "is not a parameter file");
  RawReader header(bytes.substr(kMagic.size()));
  const auto format = header.take<std::uint32_t>();
  if (header.ok() && format != kParametersFormat) {
    return fail(Errc::kVersionMismatch, "has format " + std::to_string(format) +
                                            "; this program reads format " +
                                            std::to_string(kParametersFormat));
  }
  constexpr std::size_t kHashSize = sizeof(std::uint64_t);
  if (header.rest().size() < kHashSize) return fail(Errc::kCorruptFrame, "is cut short");
  const std::string_view body = bytes.substr(0, bytes.size() - kHashSize);
  if (RawReader(bytes.substr(body.size())).take<std::uint64_t>() != content_hash(body)) {
    return fail(Errc::kCorruptFrame, "is damaged or cut short: its checksum does not match");
  }
  return body;
}

}  // namespace

std::string encode_parameters(const Parameters& parameters, const ParameterLayout& layout) {
  PACML_CHECK(fits(parameters, layout), "parameters of another layout");
  std::string bytes(kMagic);
  append_value(bytes, kParametersFormat);
  append_value(bytes, parameters.version.get());
  append_value(bytes, layout.hash);
  append_value(bytes, static_cast<std::uint32_t>(layout.entries.size()));
  for (const ParameterEntry& entry : layout.entries) {
    append_sized<std::uint32_t>(bytes, raw_bytes(entry.name));
    append_value(bytes, static_cast<std::uint32_t>(entry.shape.size()));
    for (const std::int64_t extent : entry.shape) append_value(bytes, extent);
  }
  append_value(bytes, static_cast<std::uint64_t>(parameters.values.size()));
  for (const float value : parameters.values) append_value(bytes, value);
  append_value(bytes, content_hash(bytes));
  return bytes;
}

Result<Parameters> decode_parameters(std::string_view bytes, const ParameterLayout& layout) {
  const Result<std::string_view> body = verified_body(bytes);
  if (!body) return tl::unexpected(body.error());
  RawReader reader(body->substr(kMagic.size() + sizeof(kParametersFormat)));
  Parameters parameters;
  parameters.version = PolicyVersion{reader.take<std::uint64_t>()};
  parameters.layout_hash = reader.take<std::uint64_t>();
  const std::vector<ParameterEntry> entries = read_entries(reader);
  const auto count = reader.take<std::uint64_t>();
  if (!reader.ok()) return fail(Errc::kCorruptFrame, "ends inside its list of parameters");
  const std::string difference = first_difference(entries, layout.entries);
  if (!difference.empty()) {
    return fail(Errc::kVersionMismatch, "is a checkpoint of another network: " + difference);
  }
  if (parameters.layout_hash != layout.hash || count != layout.total ||
      reader.rest().size() != layout.total * sizeof(float)) {
    return fail(Errc::kCorruptFrame,
                "contradicts itself: its values do not fit its list of parameters");
  }
  parameters.values.resize(layout.total);
  std::memcpy(parameters.values.data(), reader.rest().data(), reader.rest().size());
  for (const ParameterEntry& entry : layout.entries) {
    const auto values = std::span(parameters.values).subspan(entry.offset, entry.size);
    if (!all_finite(values)) {
      return fail(Errc::kCorruptFrame, "holds a value of " + entry.name + " that is not finite");
    }
  }
  return parameters;
}

Result<void> save_parameters(const std::filesystem::path& path, const Parameters& parameters,
                             const ParameterLayout& layout) {
  return write_file_atomically(path, encode_parameters(parameters, layout));
}

Parameters load_parameters(const std::filesystem::path& path, const ParameterLayout& layout) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) throw_error(bytes.error());
  Result<Parameters> parameters = decode_parameters(*bytes, layout);
  if (!parameters) throw UserError(path.string() + " " + parameters.error().detail);
  return *std::move(parameters);
}

}  // namespace pacml::model
