#include "env/text/json_file.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "common/json_text.h"
#include "common/result.h"
#include "common/try_again.h"
#include "env/text/open_file.h"

namespace pacml::env {

nlohmann::json read_json_file(const std::string& file) {
  constexpr std::uintmax_t kMost = std::uintmax_t{256} << 20U;  // bytes
  std::string text;
  stream_file(file, [&](std::istream& in) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file, error);
    if (error) throw_system_error(file + ": it cannot be read", error.value());
    if (bytes > kMost) throw UserError(file + ": it is larger than 256 MiB");
    text = std::string(std::istreambuf_iterator<char>(in), {});
  });
  auto document = parse_json_text(text);
  if (!document) throw UserError(file + ": " + document.error().detail);
  return *std::move(document);
}

}  // namespace pacml::env
