#include "common/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/check.h"

namespace pacml {
namespace {

FileDescriptor make_unix_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// bind or connect.
bool at_path(int (*call)(int, const sockaddr*, socklen_t), int socket, const std::string& path) {
  PACML_CHECK(!path.empty() && path.size() <= kLongestSocketPath, "a socket's path");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

AtSocketPath look_at_socket_path(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return AtSocketPath::kFree;
  if (!S_ISSOCK(file.st_mode)) return AtSocketPath::kOtherFile;
  const FileDescriptor probe = make_unix_socket();
  if (!probe.is_open() || at_path(::connect, probe.get(), path)) return AtSocketPath::kListener;
  // Else as many wait as may, it is a socket of another kind, or another user's.
  const bool left_behind = errno == ECONNREFUSED || errno == ENOENT;
  return left_behind ? AtSocketPath::kFree : AtSocketPath::kListener;
}

FileDescriptor listen_at_socket_path(const std::string& path, int backlog) {
  FileDescriptor socket = make_unix_socket();
  if (!socket.is_open()) return socket;
  ::unlink(path.c_str());  // left behind
  // Whoever may write to its file may connect, and Linux takes the file's mode from the socket.
  const bool listens = ::fchmod(socket.get(), S_IRUSR | S_IWUSR) == 0 &&
                       at_path(::bind, socket.get(), path) && ::listen(socket.get(), backlog) == 0;
  if (!listens) socket.reset();
  return socket;
}

}  // namespace pacml
