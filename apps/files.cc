#include "apps/files.h"

#include <utility>

#include "common/atomic_file.h"
#include "common/result.h"

namespace pacml::apps {

std::string read_user_file(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text) throw UserError(text.error().detail);
  return std::move(*text);
}

void write_user_file(const std::filesystem::path& path, std::string_view text) {
  if (const auto written = write_file_atomically(path, text); !written) {
    throw UserError(written.error().detail);
  }
}

}  // namespace pacml::apps
