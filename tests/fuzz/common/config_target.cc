#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "common/config/diff.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "tests/fuzz/common/targets.h"
#include "tests/support/sample_config.h"

namespace pacml::fuzz {
namespace {

// "#set a=1" on the first line stands for --set a=1.
std::vector<std::string> overrides_of(std::string_view text) {
  constexpr std::string_view kMark = "#set ";
  if (!text.starts_with(kMark)) return {};
  text.remove_prefix(kMark.size());
  return {std::string{text.substr(0, text.find('\n'))}};
}

}  // namespace

bool config(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  using testing::SampleConfig;
  static_cast<void>(config_differences("a: 1", text));
  try {
    const auto config =
        read_config<SampleConfig>(ConfigSource::from_text("fuzz", text, overrides_of(text)));
    const std::string dump = dump_config(config);
    const auto again = read_config<SampleConfig>(ConfigSource::from_text("dump", dump));
    PACML_CHECK(again == config, "what is read must survive its dump");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
