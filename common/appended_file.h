#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace pacml {

// A file that pieces are appended to, lines or records. Each is written by one system call, so that
// readers never see half of one, and nothing is kept back. What a full disk took half of is cut off
// again, at the failed write or, where that fails too, before the next one. One writer at a time.
// Thread-confined.
class AppendedFile {
 public:
  // Takes over `file`, which is open with O_APPEND and ends in a whole piece, or none. `path` and
  // `piece` ("line", ...): what errors call them.
  AppendedFile(FileDescriptor file, std::filesystem::path path, const char* piece);
  // kIo: e.g. the disk is full; the file has its former pieces.
  [[nodiscard]] Result<void> append(std::string_view bytes);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] bool cut();

  FileDescriptor file_;
  std::filesystem::path path_;
  const char* piece_;
  off_t whole_ = 0;    // bytes of whole pieces
  bool torn_ = false;  // there is half of one behind them
};

}  // namespace pacml
