#pragma once

#include <filesystem>
#include <string>

#include "common/file_descriptor.h"

namespace pacml {

// A new folder for temporary files that nobody but this user can enter, and whose name nobody can
// foresee; gone with its owner. A process that is killed leaves its own behind: whoever makes the
// next one of that name removes it. While there is an owner, whoever cleans such places of what is
// old and respects flock(2), as systemd-tmpfiles does, leaves it alone. Immutable.
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
  FileDescriptor lock_;  // held as long as there is an owner
  FileDescriptor kept_;  // the folder itself, locked
};

// Removes this user's folders of that name in the folder of temporary files whose owners are gone.
void remove_left_private_folders(const std::string& name);

}  // namespace pacml
