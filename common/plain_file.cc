#include "common/plain_file.h"

#include <system_error>

namespace pacml {

std::ifstream open_plain_file(const std::filesystem::path& path, std::ios::openmode mode) {
  std::ifstream file;
  std::error_code absent;
  if (std::filesystem::is_regular_file(path, absent)) file.open(path, mode);
  return file;
}

}  // namespace pacml
