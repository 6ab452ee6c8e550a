#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

// Recorded runs of simulators, as JSON, and what a replay made of them.
namespace pacml::testing {

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

// The JSON files of a folder, in the order of their names; none where there is no such folder.
inline std::vector<std::filesystem::path> recordings_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Every number somewhere else.
inline void spoil(nlohmann::json& value) {
  if (value.is_number()) value = value.get<double>() * 1.5 + 1;
  if (value.is_structured()) {
    for (nlohmann::json& part : value) spoil(part);
  }
}

// How far numbers may differ.
struct Tolerance {
  double share = 0;  // of the greater one
  double least = 1;  // smaller numbers may differ by as much as this one
  // The share of what stands under a key, instead; none: the same.
  std::function<double(std::string_view key)> share_of = {};
};

// The first difference, as a sentence that begins with where it is; empty: none. Texts, flags, keys
// and lengths are equal.
inline std::string difference(const nlohmann::json& recorded, const nlohmann::json& replayed,
                              const std::string& at, const Tolerance& tolerance = {}) {
  if (recorded.is_number() && replayed.is_number()) {
    const double a = recorded.get<double>();
    const double b = replayed.get<double>();
    const double size = std::max({tolerance.least, std::abs(a), std::abs(b)});
    if (std::abs(a - b) <= tolerance.share * size) return {};
  } else if (recorded.is_array() && replayed.is_array()) {
    if (recorded.size() != replayed.size()) return at + " has another length";
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      auto found =
          difference(recorded[i], replayed[i], at + "[" + std::to_string(i) + "]", tolerance);
      if (!found.empty()) return found;
    }
    return {};
  } else if (recorded.is_object() && replayed.is_object()) {
    if (recorded.size() != replayed.size()) return at + " has other members";
    for (const auto& [key, value] : recorded.items()) {
      if (!replayed.contains(key)) return at + "." + key + " is absent";
      Tolerance below = tolerance;
      if (tolerance.share_of) below.share = tolerance.share_of(key);
      auto found = difference(value, replayed[key], at + "." + key, below);
      if (!found.empty()) return found;
    }
    return {};
  } else if (recorded == replayed) {
    return {};
  }
  return at + ": recorded " + recorded.dump().substr(0, 60) + ", replayed " +
         replayed.dump().substr(0, 60);
}

}  // namespace pacml::testing
