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

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

}  // namespace

AtomicFile::AtomicFile(fs::path path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(fs::path path, mode_t mode) {
  // mkostemp chooses a free name, so two writers of one file never share a temporary.
  fs::path hidden = folder_of(path) / ".";
  hidden += path.filename();
  std::string temporary = hidden.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return io_error("cannot write", path);
  AtomicFile file(std::move(path), std::move(temporary), fd);
  if (::fchmod(fd, mode) != 0) return io_error("cannot write", file.path_);
  return file;
}

Result<void> AtomicFile::append(std::string_view bytes) {
  if (!write_all(fd_, bytes)) return io_error("cannot write", path_);
  return {};
}

Result<void> AtomicFile::commit() {
  // Some file systems report a failed write only at the close.
  const bool written = ::fsync(fd_) == 0 && ::close(std::exchange(fd_, -1)) == 0 &&
                       ::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (!written) return io_error("cannot write", path_);
  temporary_.clear();
  // The new name is on the disk only when the folder is.
  const fs::path folder = folder_of(path_);
  const File parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.ok() || ::fsync(parent.fd()) != 0) return io_error("cannot sync", folder);
  return {};
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes, mode_t mode) {
  auto file = AtomicFile::create(path, mode);
  if (!file) return tl::unexpected(std::move(file.error()));
  if (auto written = file->append(bytes); !written) return written;
  return file->commit();
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
