#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace pacml {

// What may also pass by itself: a port that is still taken, a run that its former process still
// holds, a disk that does not answer. Exit code 75 (common/exit_codes.h): whoever started us may do
// so again.
class TryAgainError : public UserError {
 public:
  using UserError::UserError;
};

// Whether what a system call has said is of that kind. Pure.
[[nodiscard]] bool passes_by_itself(int error);

// The error's sentence, as TryAgainError where it may pass, else as UserError.
[[noreturn]] void throw_error(const Error& error);

// A sentence that ends in what the system has said, as TryAgainError or UserError.
[[noreturn]] void throw_system_error(const std::string& sentence, int error);

// Whether there is anything at `path`. TryAgainError, UserError: nobody can tell, now or at all.
[[nodiscard]] bool is_there(const std::filesystem::path& path);

}  // namespace pacml
