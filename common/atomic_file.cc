#include "common/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pacml {
namespace {

namespace fs = std::filesystem;

// Owns a file descriptor.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  // False with errno: some file systems report a failed write only here.
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

tl::unexpected<Error> io_error(const std::string& what, const fs::path& path) {
  return fail(Errc::kIo, what + " " + path.string() + ": " + std::strerror(errno));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  // mkostemp chooses a free name, so two writers of one file never share a temporary.
  fs::path hidden = folder / ".";
  hidden += path.filename();
  std::string temporary = hidden.string() + ".XXXXXX";
  File file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.ok()) return io_error("cannot write", path);
  const bool written = ::fchmod(file.fd(), 0644) == 0 && write_all(file.fd(), bytes) &&
                       ::fsync(file.fd()) == 0 && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    auto error = io_error("cannot write", path);
    ::unlink(temporary.c_str());
    return error;
  }
  // The new name is on the disk only when the folder is.
  const File parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.ok() || ::fsync(parent.fd()) != 0) return io_error("cannot sync", folder);
  return {};
}

Result<std::string> read_file(const fs::path& path, std::uint64_t max_bytes) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return io_error("cannot read", path);
  std::string content;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(file.fd(), block.data(), block.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      return io_error("cannot read", path);
    }
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > max_bytes) {
      return fail(Errc::kOverLimit,
                  path.string() + " is longer than " + std::to_string(max_bytes) + " bytes");
    }
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace pacml
