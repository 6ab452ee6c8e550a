#include "common/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml {
namespace {

using testing::TempDir;

TEST_CASE("a path is free until somebody listens there, and again behind them", "[socket]") {
  const TempDir folder;
  const std::string path = (folder / "s").string();
  CHECK(look_at_socket_path(path) == AtSocketPath::kFree);
  for (int life = 0; life < 2; ++life) {  // the second finds what the first has left
    const FileDescriptor listener = listen_at_socket_path(path, 1);
    REQUIRE(listener.is_open());
    CHECK(look_at_socket_path(path) == AtSocketPath::kListener);
    struct stat file {};
    REQUIRE(::stat(path.c_str(), &file) == 0);
    CHECK((file.st_mode & 0777) == 0600);
  }
  CHECK(look_at_socket_path(path) == AtSocketPath::kFree);
}

TEST_CASE("who takes no further connection for now still listens", "[socket]") {
  const TempDir folder;
  const std::string path = (folder / "s").string();
  const FileDescriptor listener = listen_at_socket_path(path, 0);
  // Each look is a connection that waits: the second finds no room for its own.
  for (int look = 0; look < 4; ++look) {
    CHECK(look_at_socket_path(path) == AtSocketPath::kListener);
  }
}

TEST_CASE("a socket that does not take connections is not taken for one that was left behind",
          "[socket]") {
  const TempDir folder;
  const std::string path = (folder / "s").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  {
    const FileDescriptor letters(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(letters.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    CHECK(look_at_socket_path(path) == AtSocketPath::kListener);
  }
  CHECK(look_at_socket_path(path) == AtSocketPath::kFree);
}

TEST_CASE("what is no socket is told from one", "[socket]") {
  const TempDir folder;
  const std::string path = (folder / "s").string();
  std::ofstream(path) << "precious";
  CHECK(look_at_socket_path(path) == AtSocketPath::kOtherFile);
}

TEST_CASE("a socket that cannot be made is not open", "[socket]") {
  const TempDir folder;
  CHECK_FALSE(listen_at_socket_path((folder / "none" / "s").string(), 1).is_open());
}

}  // namespace
}  // namespace pacml
