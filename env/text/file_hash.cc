#include "env/text/file_hash.h"

#include <string_view>
#include <vector>

#include "common/hash.h"
#include "common/result.h"
#include "env/text/open_file.h"

namespace pacml::env {

std::uint64_t file_hash(const std::string& file, std::uint64_t seed) {
  std::ifstream in = open_file(file);
  std::vector<char> block(std::size_t{1} << 20);
  std::uint64_t hash = content_hash(std::string_view(), seed);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hash = content_hash({block.data(), static_cast<std::size_t>(in.gcount())}, hash);
  }
  if (in.bad()) throw UserError(file + ": it cannot be read");
  return hash;
}

}  // namespace pacml::env
