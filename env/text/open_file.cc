#include "env/text/open_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/result.h"

namespace pacml::env {

std::ifstream open_file(const std::string& file) {
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  std::ifstream in;
  std::string why = error.message();
  if (type == std::filesystem::file_type::regular) {
    in.open(file, std::ios::binary);
    if (!in.is_open()) why = std::strerror(errno);
  } else if (!error) {
    why = type == std::filesystem::file_type::directory ? "it is a folder" : "it is no plain file";
  }
  if (!in.is_open()) throw UserError(file + ": it cannot be read: " + why);
  return in;
}

}  // namespace pacml::env
