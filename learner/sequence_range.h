#pragma once

#include <cstddef>

namespace pacml::learner {

// Decisions first .. first + length - 1 of a batch, which one stream took in a row.
struct SequenceRange {
  std::size_t first = 0;
  std::size_t length = 0;  // >= 1
  bool operator==(const SequenceRange&) const = default;
};

}  // namespace pacml::learner
