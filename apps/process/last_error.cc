#include "apps/process/last_error.h"

#include <algorithm>
#include <fstream>
#include <ios>
#include <string_view>

#include "common/plain_file.h"

namespace pacml::apps {

std::string last_error(const std::string& log) {
  constexpr std::streamoff kTail = 1 << 14;
  constexpr std::string_view kError = "pacml: ";
  std::ifstream in = open_plain_file(log, std::ios::binary | std::ios::ate);
  if (!in.is_open()) return {};
  in.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(in.tellg()) - kTail));
  std::string error;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kError)) error = line.substr(kError.size());
  }
  return error;
}

}  // namespace pacml::apps
