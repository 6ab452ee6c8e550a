#pragma once

#include <string>
#include <vector>

namespace pacml::apps {

// A command line.
using Words = std::vector<std::string>;

inline void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

}  // namespace pacml::apps
