#include <string>
#include <string_view>

#include "common/check.h"
#include "common/transport/allow_list.h"
#include "common/transport/key_files.h"
#include "tests/fuzz/common/targets.h"

namespace pacml::fuzz {
namespace {

using namespace transport;

bool key(std::string_view text) {
  const auto parsed = parse_curve_key(text);
  if (!parsed) return false;
  const auto bytes = decode_curve_key(*parsed);
  PACML_CHECK(bytes && encode_curve_key(*bytes) == *parsed, "a key has one text");
  return true;
}

bool list(std::string_view text) {
  try {
    const AllowList parsed = AllowList::parse(text, "fuzz");
    std::string again;
    for (const auto& [bytes, name] : parsed.entries()) {
      PACML_CHECK(is_client_name(name), "a name is checked");
      // A key may begin with what begins a comment, but for white space before it.
      again += " " + encode_curve_key(bytes) + " " + name + "\n";
    }
    PACML_CHECK(AllowList::parse(again, "again").entries() == parsed.entries(),
                "what is read must survive being written again");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

bool keys(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool is_key = key(text);
  return list(text) || is_key;
}

}  // namespace pacml::fuzz
