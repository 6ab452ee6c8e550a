# Writes a .cc with the files FILES (relative to SOURCE_DIR, separated by |) as strings.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries)
foreach(file ${FILES})
  file(READ ${SOURCE_DIR}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"~~~~(${text})~~~~\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"apps/launch/deploy_files.h\"

#include <array>
#include <utility>

#include \"common/check.h\"

namespace pacml::apps {

std::string_view deploy_file(std::string_view path) {
  using File = std::pair<std::string_view, std::string_view>;
  static constexpr auto kFiles = std::to_array<File>({
${entries}  });
  for (const auto& [name, text] : kFiles) {
    if (name == path) return text;
  }
  PACML_CHECK(false, \"the build embeds this file\");
  return {};
}

}  // namespace pacml::apps
")
