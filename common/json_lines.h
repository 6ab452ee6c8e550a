#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace pacml {

// Appends one JSON object per line (metrics.jsonl). A line is written by one system call, so that
// readers never see half of one, and nothing is kept back. A torn last line, the trace of a crash
// or of a disk that was full, is cut off at opening and at the failed write or, where that fails
// too, before the next one. One writer at a time. Thread-confined.
class JsonLinesWriter {
 public:
  // UserError: cannot be opened.
  explicit JsonLinesWriter(std::filesystem::path path);
  // kIo: e.g. the disk is full; the file has its former lines. Numbers that JSON lacks (NaN,
  // infinity) become null.
  [[nodiscard]] Result<void> write(const nlohmann::json& object);

 private:
  [[nodiscard]] bool cut_torn_line();

  std::filesystem::path path_;
  FileDescriptor file_;
  bool torn_ = false;  // the last line may be half of one
};

}  // namespace pacml
