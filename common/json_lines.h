#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "common/result.h"

namespace pacml {

// Appends one JSON object per line (metrics.jsonl). A line is written by one system call, so that
// readers and other writers never see half of one, and nothing is kept back. Opening cuts off a
// torn last line, the trace of a crash. Thread-confined.
class JsonLinesWriter {
 public:
  // UserError: cannot be opened.
  explicit JsonLinesWriter(std::filesystem::path path);
  JsonLinesWriter(JsonLinesWriter&& other) noexcept;
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;
  ~JsonLinesWriter();
  // kIo: e.g. the disk is full. Numbers that JSON lacks (NaN, infinity) become null.
  [[nodiscard]] Result<void> write(const nlohmann::json& object);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace pacml
