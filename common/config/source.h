#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/node.h"

namespace pacml {

// Where a configuration comes from: YAML text, then overrides such as "learner.batch=64" (the value
// is YAML; a missing map on the way is made; a list can only be replaced whole). One document, no
// anchors, no aliases, no tags, at most 1 MiB. Throws UserError with file, line and reason:
// unreadable, not YAML, a key given twice, a malformed override. `option` stands for the one that
// overrides came with in messages; it begins with two dashes. Immutable.
//
// A file may stand on others: `extends: FILE`, or a list of them, each from the folder of the file
// that names it. They are laid over one another in that order, and the file over them: maps key by
// key, everything else whole. A map that says its `kind`, the same or another, replaces what it is
// laid over; where a map was, a key without a value leaves it. At most 16 files.
class ConfigSource {
 public:
  // A file that sets nothing is refused, too: it is another one than was meant.
  [[nodiscard]] static ConfigSource from_file(const std::filesystem::path& path,
                                              std::span<const std::string> overrides = {},
                                              std::string_view option = "--set");
  // A file that extends nothing, for what is known by the bytes of one file.
  [[nodiscard]] static ConfigSource from_lone_file(const std::filesystem::path& path);
  // `name` stands for the file's name in messages. Text stands in no folder, and extends nothing.
  [[nodiscard]] static ConfigSource from_text(std::string name, std::string_view text,
                                              std::span<const std::string> overrides = {},
                                              std::string_view option = "--set");

  // Without these keys at the top, for who reads only the rest.
  [[nodiscard]] ConfigSource without(std::span<const std::string_view> keys) const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ConfigNode& root() const { return root_; }
  // What was read: those that the file extends, directly or not, and the file last. Of text none.
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  static ConfigSource with_overrides(std::string name, ConfigNode root,
                                     std::span<const std::string> overrides,
                                     std::string_view option);
  ConfigSource(std::string name, ConfigNode root)
      : name_(std::move(name)), root_(std::move(root)) {}

  std::string name_;
  ConfigNode root_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace pacml
