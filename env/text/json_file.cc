#include "env/text/json_file.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/json_text.h"
#include "common/result.h"
#include "env/text/open_file.h"

namespace pacml::env {

nlohmann::json read_json_file(const std::string& file) {
  constexpr std::uintmax_t kMost = std::uintmax_t{256} << 20U;  // bytes
  std::ifstream in = open_file(file);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (error) throw UserError(file + ": it cannot be read: " + error.message());
  if (bytes > kMost) throw UserError(file + ": it is larger than 256 MiB");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto document = parse_json_text(text);
  if (!document) throw UserError(file + ": " + document.error().detail);
  return *std::move(document);
}

}  // namespace pacml::env
