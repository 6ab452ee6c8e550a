#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "common/transport/key_files.h"
#include "tests/support/temp_dir.h"

namespace pacml::testing {

// What `pacml keygen` makes, for one test.
class KeyFolder {
 public:
  KeyFolder() { transport::create_key_folder(path()); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "keys"; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path() / name;
  }
  [[nodiscard]] transport::Encryption server() const {
    return transport::server_encryption(path());
  }
  [[nodiscard]] transport::Encryption client(const std::string& name = "actor") const {
    return transport::client_encryption(path(), name);
  }
  // Takes the lines of `name` out of the list of clients.
  void revoke(const std::string& name) const {
    std::ifstream in(*this / "allowed_clients");
    std::string kept;
    for (std::string line; std::getline(in, line);) {
      if (!line.ends_with(" " + name)) kept += line + "\n";
    }
    in.close();
    std::ofstream(*this / "allowed_clients") << kept;
  }

 private:
  TempDir folder_;
};

}  // namespace pacml::testing
