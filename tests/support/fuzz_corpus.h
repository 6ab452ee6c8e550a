#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "common/bytes.h"
#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

// A fuzz corpus and damaged copies of it, for the plain tests that replay both in every build.
namespace pacml::testing {

// The files of a folder below the source tree, sorted by name.
inline std::vector<Bytes> read_corpus(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(folder))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const auto& path : paths) {
    const auto text = read_file(path);
    REQUIRE(text.has_value());
    const auto bytes = std::as_bytes(std::span(text->data(), text->size()));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

// One to four small damages; `other` lends a piece of itself.
inline Bytes damaged(Bytes bytes, const Bytes& other, Rng& rng) {
  for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
    const std::size_t at = rng.below(bytes.size() + 1);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (rng.below(5)) {
      case 0:
        if (here != bytes.end()) *here ^= std::byte(1U << rng.below(8));
        break;
      case 1:
        if (here != bytes.end()) *here = std::byte(rng.below(256));
        break;
      case 2:
        bytes.insert(here, 1 + rng.below(4), std::byte(rng.below(256)));
        break;
      case 3:
        bytes.erase(here, here + static_cast<std::ptrdiff_t>(rng.below(
                                     static_cast<std::uint64_t>(bytes.end() - here) + 1)));
        break;
      default:
        if (!other.empty()) {
          const auto from = other.begin() + static_cast<std::ptrdiff_t>(rng.below(other.size()));
          bytes.insert(here, from, from + std::min<std::ptrdiff_t>(8, other.end() - from));
        }
    }
  }
  return bytes;
}

// Runs the files of a folder through a target, which answers whether it could read them: `least` of
// them it can, some it cannot. Then `rounds` seeded damages to each of them: a crash that a fuzzer
// once found stays found.
inline void replay_corpus(const std::string& folder, bool (*target)(std::span<const std::byte>),
                          std::ptrdiff_t least, int rounds) {
  const std::vector<Bytes> inputs = read_corpus(folder);
  const auto read = std::count_if(inputs.begin(), inputs.end(),
                                  [&](const Bytes& bytes) { return target(bytes); });
  CHECK(read >= least);
  CHECK(read < static_cast<std::ptrdiff_t>(inputs.size()));
  Rng rng(Seed{1});
  for (int round = 0; round < rounds; ++round) {
    for (const Bytes& input : inputs) {
      target(damaged(input, inputs[rng.below(inputs.size())], rng));
    }
  }
}

}  // namespace pacml::testing
