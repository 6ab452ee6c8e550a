#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "common/appended_file.h"
#include "common/result.h"

namespace pacml {

// Appends one JSON object per line (metrics.jsonl), whole or not at all (common/appended_file.h). A
// torn last line, the trace of a crash, is cut off at opening. Thread-confined.
class JsonLinesWriter {
 public:
  // UserError: cannot be opened, or is a pipe.
  explicit JsonLinesWriter(std::filesystem::path path);
  // kIo: e.g. the disk is full; the file has its former lines. Numbers that JSON lacks (NaN,
  // infinity) become null.
  [[nodiscard]] Result<void> write(const nlohmann::json& object);

 private:
  AppendedFile file_;
};

}  // namespace pacml
