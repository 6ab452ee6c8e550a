#pragma once

#include <sys/un.h>

#include <cstddef>
#include <string>

#include "common/file_descriptor.h"

// Sockets of the Unix domain that a server listens at.
namespace pacml {

inline constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;  // bytes

// What there is where a socket is to be.
enum class AtSocketPath {
  kFree,       // nothing, or a socket that was left behind
  kListener,   // somebody takes connections, or nobody can tell
  kOtherFile,  // no socket
};
// Pre: 1 .. kLongestSocketPath bytes; so below.
[[nodiscard]] AtSocketPath look_at_socket_path(const std::string& path);

// Listens at a path that is free: the socket does not block, and `backlog` connections wait at
// most. Nobody but this user's processes may connect, from its first moment. Not open: it cannot be
// made, errno says why.
[[nodiscard]] FileDescriptor listen_at_socket_path(const std::string& path, int backlog);

}  // namespace pacml
