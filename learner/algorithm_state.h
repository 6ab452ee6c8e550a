#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pacml::learner {

// Everything that an algorithm's next update depends on, by name, so that a checkpoint needs to
// know no algorithm. Names hold no '/'. Value type.
struct AlgorithmState {
  std::string algorithm;  // which one wrote it
  std::map<std::string, std::vector<float>> vectors;
  std::map<std::string, double> reals;
  std::map<std::string, std::int64_t> counts;
  bool operator==(const AlgorithmState&) const = default;
};

}  // namespace pacml::learner
