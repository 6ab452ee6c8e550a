#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "common/transport/key_files.h"

namespace pacml::bench {

// A folder of keys for one measurement, gone with its owner.
class ScratchKeys {
 public:
  ScratchKeys()
      : path_(std::filesystem::temp_directory_path() /
              ("pacml-bench-keys-" + std::to_string(getpid()))) {
    transport::create_key_folder(path_);
  }
  ScratchKeys(const ScratchKeys&) = delete;
  ScratchKeys& operator=(const ScratchKeys&) = delete;
  ~ScratchKeys() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pacml::bench
