#include "common/try_again.h"

#include <cerrno>
#include <cstring>
#include <system_error>

namespace pacml {

bool passes_by_itself(int error) {
  switch (error) {
    case EADDRINUSE:
    case EAGAIN:
    case EBUSY:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EINTR:
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOLCK:
    case ENOMEM:
    case EREMOTEIO:
    case ESTALE:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

void throw_error(const Error& error) {
  if (error.passes) throw TryAgainError(error.detail);
  throw UserError(error.detail);
}

void throw_system_error(const std::string& sentence, int error) {
  throw_error({Errc::kIo, sentence + ": " + std::strerror(error), passes_by_itself(error)});
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (error) throw_system_error("cannot read " + path.string(), error.value());
  return there;
}

}  // namespace pacml
