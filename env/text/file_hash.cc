#include "env/text/file_hash.h"

#include <cstddef>
#include <istream>
#include <string_view>
#include <vector>

#include "common/hash.h"
#include "env/text/open_file.h"

namespace pacml::env {

std::uint64_t file_hash(const std::string& file, std::uint64_t seed) {
  std::vector<char> block(std::size_t{1} << 20);
  std::uint64_t hash = content_hash(std::string_view(), seed);
  stream_file(file, [&](std::istream& in) {
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
      hash = content_hash({block.data(), static_cast<std::size_t>(in.gcount())}, hash);
    }
  });
  return hash;
}

}  // namespace pacml::env
