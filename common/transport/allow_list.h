#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/transport/curve.h"

namespace pacml::transport {

// Which clients may connect to a server, by their public keys. As text: one key per line, white
// space, the name of its holder; lines that begin with '#' and empty ones say nothing.
// Immutable value type.
class AllowList {
 public:
  // `source` names the text in sentences. UserError: a line that is neither, a key that is there
  // twice, a text that is too long; with the line's number.
  [[nodiscard]] static AllowList parse(std::string_view text, const std::string& source);

  // Who holds that key; nullptr: nobody who may connect.
  [[nodiscard]] const std::string* find(const CurveKeyBytes& key) const;
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::map<CurveKeyBytes, std::string>& entries() const { return names_; }

 private:
  std::map<CurveKeyBytes, std::string> names_;
};

// Letters, digits, and . _ - after the first: at most 64 of them. Pure.
[[nodiscard]] bool is_client_name(std::string_view name);

// A list that follows its file. Thread-confined.
class AllowListFile {
 public:
  // UserError: the file cannot be read, others than its owner may write it, or it is no list.
  explicit AllowListFile(std::filesystem::path path);

  // Reads the file again where it is another one than last time. What cannot be read then leaves
  // the former list in force, and is logged once.
  const AllowList& current();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  // What tells one version of a file from another: also where a link has been led elsewhere.
  struct Version {
    dev_t device = 0;
    ino_t file = 0;
    off_t size = 0;
    timespec changed{};
    friend bool operator==(const Version& a, const Version& b) {
      return a.device == b.device && a.file == b.file && a.size == b.size &&
             a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec;
    }
  };
  [[nodiscard]] Version look() const;
  [[nodiscard]] AllowList read() const;

  std::filesystem::path path_;
  Version version_;                    // of list_
  std::optional<Version> complained_;  // a broken one, or none, that was said to be
  AllowList list_;
};

}  // namespace pacml::transport
