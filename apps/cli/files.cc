#include "apps/cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/atomic_file.h"
#include "common/result.h"
#include "common/try_again.h"

namespace pacml::apps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path) {
  throw UserError("cannot write " + path.string() + ": " + std::strerror(errno));
}

}  // namespace

std::string read_user_file(const fs::path& path) {
  auto text = read_file(path);
  if (!text) throw_error(text.error());
  return std::move(*text);
}

void write_user_file(const fs::path& path, std::string_view text) {
  if (const auto written = write_file_atomically(path, text); !written) {
    throw_error(written.error());
  }
}

void keep_user_file(const fs::path& path, std::string_view text) {
  const auto there = read_file(path);
  if (!there || *there != text) write_user_file(path, text);
}

void check_writable(const fs::path& path) {
  std::error_code ignored;
  const auto kind = fs::status(path, ignored).type();
  const bool replaced = kind == fs::file_type::regular || kind == fs::file_type::not_found ||
                        kind == fs::file_type::none;
  if (!replaced) {
    if (::access(path.c_str(), W_OK) != 0) refuse(path);
    if (kind == fs::file_type::directory) {
      errno = EISDIR;
      refuse(path);
    }
    return;
  }
  const auto target = behind_links(path);
  if (!target) throw_error(target.error());
  const fs::path folder = target->has_parent_path() ? target->parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK) != 0) refuse(path);
  if (!fs::is_directory(folder, ignored)) {
    errno = ENOTDIR;
    refuse(path);
  }
}

}  // namespace pacml::apps
