#pragma once

#include <fstream>
#include <functional>
#include <istream>
#include <string>

namespace pacml::env {

// A user's file, to be read. UserError, or TryAgainError where that may pass: it is none, or cannot
// be read: a pipe that nobody writes to would be waited for without end.
[[nodiscard]] std::ifstream open_file(const std::string& file);

// Calls `read` with such a file. Errors as above: also where the file cannot be read on, which ends
// `read`.
void stream_file(const std::string& file, const std::function<void(std::istream&)>& read);

}  // namespace pacml::env
