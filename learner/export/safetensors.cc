#include "learner/export/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/bytes.h"
#include "common/check.h"
#include "common/json_text.h"

namespace pacml::learner {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;
constexpr const char* kMetadata = "__metadata__";

tl::unexpected<Error> corrupt(const std::string& what) { return fail(Errc::kCorruptFrame, what); }

// Where a tensor's values lie in the data, as its header says.
struct Place {
  NamedTensor tensor;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// Values in a tensor of `shape`; nothing if the shape is none or too large to be one.
bool count_values(const json& shape, std::uint64_t limit, std::vector<std::int64_t>& extents,
                  std::uint64_t& count) {
  if (!shape.is_array()) return false;
  count = 1;
  bool empty = false;
  for (const json& extent : shape) {
    if (!extent.is_number_unsigned()) return false;
    const auto value = extent.get<std::uint64_t>();
    if (value > limit) return false;
    empty = empty || value == 0;
    if (value > 0 && count > limit / value) return false;
    if (value > 0) count *= value;
    extents.push_back(static_cast<std::int64_t>(value));
  }
  if (empty) count = 0;
  return true;
}

Result<Place> read_place(const std::string& name, const json& entry, std::uint64_t data_size) {
  Place place;
  place.tensor.name = name;
  const json nothing;
  const auto find = [&](const char* key) -> const json& {
    const auto it = entry.find(key);
    return it == entry.end() ? nothing : *it;
  };
  if (find("dtype") != "F32") {
    return corrupt("holds '" + name + "' in a type other than F32");
  }
  std::uint64_t count = 0;
  const json& offsets = find("data_offsets");
  const bool sound =
      count_values(find("shape"), data_size / sizeof(float), place.tensor.shape, count) &&
      offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
      offsets[1].is_number_unsigned();
  if (sound) {
    place.from = offsets[0].get<std::uint64_t>();
    place.to = offsets[1].get<std::uint64_t>();
  }
  if (!sound || place.to < place.from || place.to - place.from != count * sizeof(float)) {
    return corrupt("describes the tensor '" + name + "' in a way that makes no sense");
  }
  return place;
}

}  // namespace

std::string encode_safetensors(const Safetensors& file) {
  json header = json::object();
  std::uint64_t end = 0;
  for (const NamedTensor& tensor : file.tensors) {
    std::size_t count = 1;
    for (const std::int64_t extent : tensor.shape) count *= static_cast<std::size_t>(extent);
    PACML_CHECK(count == tensor.values.size(), "a tensor has as many values as its shape says");
    PACML_CHECK(!header.contains(tensor.name) && tensor.name != kMetadata,
                "tensor names are unique");
    const std::uint64_t from = end;
    end += count * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {from, end}}};
  }
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  // Text that is no UTF-8 is replaced rather than thrown over.
  std::string text = json_text(header);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');

  std::string out(kLengthBytes, '\0');
  const std::uint64_t length = text.size();
  std::memcpy(out.data(), &length, kLengthBytes);
  out.reserve(kLengthBytes + length + end);
  out += text;
  for (const NamedTensor& tensor : file.tensors) {
    const auto bytes = bytes_of(tensor.values);
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

Result<Safetensors> decode_safetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return corrupt("is too short for a safetensors file");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) return corrupt("is cut short or not a safetensors file");
  const std::string_view text = bytes.substr(0, length);
  const std::string_view data = bytes.substr(length);
  const auto header = parse_json_text(text);
  if (!header || !header->is_object()) return corrupt("has no header of a safetensors file");

  Safetensors out;
  std::vector<Place> places;
  for (const auto& [name, entry] : header->items()) {
    if (name == kMetadata) {
      if (!entry.is_object()) return corrupt("has metadata that is not a list of texts");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) return corrupt("has metadata that is not a list of texts");
        out.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    auto place = read_place(name, entry, data.size());
    if (!place) return tl::unexpected(place.error());
    places.push_back(*std::move(place));
  }
  // An empty tensor may share its place with the one that follows.
  std::ranges::stable_sort(places, {}, [](const Place& p) { return std::pair(p.from, p.to); });
  std::uint64_t end = 0;
  for (Place& place : places) {
    if (place.from != end || place.to > data.size()) {
      return corrupt("is cut short, or its tensors overlap or leave gaps");
    }
    place.tensor.values.resize((place.to - place.from) / sizeof(float));
    if (place.to > place.from) {  // memcpy wants no null pointer, be it for nothing
      std::memcpy(place.tensor.values.data(), data.data() + place.from, place.to - place.from);
    }
    end = place.to;
    out.tensors.push_back(std::move(place.tensor));
  }
  if (end != data.size()) return corrupt("is cut short, or its tensors overlap or leave gaps");
  return out;
}

}  // namespace pacml::learner
