#include "common/private_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/result.h"

namespace pacml {

PrivateFolder::PrivateFolder(const std::string& name) {
  std::string made = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(made.data()) == nullptr) {
    throw UserError("cannot create the folder " + made + ": " + std::strerror(errno));
  }
  path_ = made;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pacml
