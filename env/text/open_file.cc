#include "env/text/open_file.h"

#include <cerrno>
#include <filesystem>
#include <ios>
#include <system_error>

#include "common/result.h"
#include "common/try_again.h"

namespace pacml::env {
namespace {

std::string cannot_be_read(const std::string& file) { return file + ": it cannot be read"; }

}  // namespace

std::ifstream open_file(const std::string& file) {
  const std::string sentence = cannot_be_read(file);
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (error) throw_system_error(sentence, error.value());
  if (type == std::filesystem::file_type::directory) throw UserError(sentence + ": it is a folder");
  if (type != std::filesystem::file_type::regular) {
    throw UserError(sentence + ": it is no plain file");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in.is_open()) throw_system_error(sentence, errno);
  return in;
}

void stream_file(const std::string& file, const std::function<void(std::istream&)>& read) {
  std::ifstream in = open_file(file);
  in.exceptions(std::ios::badbit);  // whose code is the system's; the state alone has none
  try {
    read(in);
  } catch (const std::ios_base::failure& error) {
    throw_system_error(cannot_be_read(file), error.code().value());
  }
}

}  // namespace pacml::env
