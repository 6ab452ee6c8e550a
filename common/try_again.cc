#include "common/try_again.h"

#include <cerrno>
#include <cstring>

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

void throw_system_error(const std::string& sentence, int error) {
  const std::string whole = sentence + ": " + std::strerror(error);
  if (passes_by_itself(error)) throw TryAgainError(whole);
  throw UserError(whole);
}

}  // namespace pacml
