#pragma once

#include <filesystem>
#include <string>

namespace pacml {

// A new folder for temporary files that nobody but this user can enter, and whose name nobody can
// foresee; gone with its owner. Immutable.
class PrivateFolder {
 public:
  // `name`: what its name begins with. UserError: it cannot be made.
  explicit PrivateFolder(const std::string& name);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace pacml
