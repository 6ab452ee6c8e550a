#include "common/atomic_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "common/try_again.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> io_error(const std::string& what, const fs::path& path) {
  const int error = errno;
  return tl::unexpected(Error{Errc::kIo, what + " " + path.string() + ": " + std::strerror(error),
                              passes_by_itself(error)});
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

// A temporary is called .NAME.pacml-XXXXXX.
constexpr std::size_t kRandom = 6;
constexpr std::string_view kMark = ".pacml-";

std::string temporary_prefix(const fs::path& target) {
  return "." + target.filename().string() + std::string(kMark);
}

bool is_temporary(std::string_view name) {
  return name.starts_with('.') && name.size() > kRandom + kMark.size() &&
         name.substr(0, name.size() - kRandom).ends_with(kMark);
}

// Its writer holds a lock on it, which goes with the writer however it ends. Whoever would remove
// it asks for that lock: between our making it and locking it, somebody may have. Where the file
// system has no locks, nobody can take what we could not, and nothing is ever removed.
bool stays_ours(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

void remove_if_stale(const fs::path& file) {
  // Without O_NONBLOCK, opening a pipe of that name would wait for its other end.
  const FileDescriptor temporary(
      ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!temporary.is_open() || ::fstat(temporary.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return;
  }
  if (::flock(temporary.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(file.c_str());
}

// Of the target that `prefix` belongs to; empty: of all.
void remove_temporaries(const fs::path& folder, std::string_view prefix) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!is_temporary(name)) continue;
    if (!prefix.empty() && (name.size() != prefix.size() + kRandom || !name.starts_with(prefix))) {
      continue;
    }
    remove_if_stale(it->path());
  }
}

// umask() itself changes what it tells, for every thread. Where /proc is not there: the usual one.
mode_t umask_of_process() {
  constexpr std::string_view kKey = "Umask:";
  constexpr mode_t kUsual = 022;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kKey)) continue;
    return static_cast<mode_t>(std::strtoul(line.c_str() + kKey.size(), nullptr, 8)) & 0777;
  }
  return kUsual;
}

// Who may read and write what takes a file's place: as the file says, or of a new one the umask.
mode_t usual_mode(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) return status.st_mode & 0777;
  return 0666 & ~umask_of_process();
}

// Until a pipe has something to read, or its end; false, with errno set, after ten seconds.
bool wait_for_input(int fd) {
  constexpr int kPatience = 10'000;  // ms
  pollfd input{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&input, 1, kPatience);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

// Content that is written, and waits for its name.
Result<AtomicFile> create_with(const fs::path& path, std::string_view bytes,
                               std::optional<mode_t> mode) {
  auto file = AtomicFile::create(path, mode);
  if (!file) return file;
  if (auto written = file->append(bytes); !written) {
    return tl::unexpected(std::move(written.error()));
  }
  return file;
}

}  // namespace

AtomicFile::AtomicFile(fs::path path, fs::path target, std::string temporary, FileDescriptor file)
    : path_(std::move(path)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      file_(std::move(file)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

AtomicFile::~AtomicFile() {
  // In this order: while it has its name, it has its lock.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  file_.reset();
}

Result<AtomicFile> AtomicFile::open_as_it_is(fs::path path) {
  // A pipe that nobody reads would otherwise keep us for ever.
  FileDescriptor opened(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened.is_open() && errno == ENXIO) {
    return fail(Errc::kIo, "cannot write " + path.string() + ": nobody reads from it");
  }
  if (!opened.is_open()) return io_error("cannot write", path);
  AtomicFile file(std::move(path), {}, {}, std::move(opened));
  const int flags = ::fcntl(file.file_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(file.file_.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return io_error("cannot write", file.path_);
  }
  return file;
}

Result<AtomicFile> AtomicFile::create(fs::path path, std::optional<mode_t> mode) {
  std::error_code error;
  const auto kind = fs::status(path, error).type();
  if (kind == fs::file_type::directory) {
    errno = EISDIR;
    return io_error("cannot write", path);
  }
  const bool exists = kind != fs::file_type::not_found && kind != fs::file_type::none;
  if (exists && kind != fs::file_type::regular) return open_as_it_is(std::move(path));
  auto target = behind_links(path);
  if (!target) return tl::unexpected(std::move(target.error()));
  remove_temporaries(folder_of(*target), temporary_prefix(*target));
  // mkostemp chooses a free name, so two writers of one file never share a temporary.
  const fs::path pattern =
      folder_of(*target) / (temporary_prefix(*target) + std::string(kRandom, 'X'));
  while (true) {
    std::string temporary = pattern.string();
    FileDescriptor made(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!made.is_open()) return io_error("cannot write", path);
    if (!stays_ours(made.get())) continue;
    AtomicFile file(std::move(path), std::move(*target), std::move(temporary), std::move(made));
    const mode_t wanted = mode ? *mode : usual_mode(file.target_);
    if (::fchmod(file.file_.get(), wanted) != 0) return io_error("cannot write", file.path_);
    return file;
  }
}

Result<fs::path> behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the system follows itself
  fs::path target = path;
  for (int followed = 0; followed <= kMostLinks; ++followed) {
    std::error_code error;
    if (!fs::is_symlink(target, error)) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // `next` alone where it is absolute
  }
  errno = ELOOP;
  return io_error("cannot write", path);
}

Result<void> AtomicFile::append(std::string_view bytes) {
  if (!write_all(file_.get(), bytes)) return io_error("cannot write", path_);
  return {};
}

Result<void> AtomicFile::commit() {
  auto committed = commit(Replaces::kWhatIsThere);
  if (!committed) return tl::unexpected(std::move(committed.error()));
  return {};
}

Result<bool> AtomicFile::commit_new() { return commit(Replaces::kNothing); }

Result<bool> AtomicFile::commit(Replaces replaces) {
  if (target_.empty()) {
    // Devices and pipes have nothing to sync, and say so.
    const bool synced = ::fsync(file_.get()) == 0 || errno == EINVAL || errno == EROFS;
    if (!synced || !file_.close()) return io_error("cannot write", path_);
    return true;
  }
  // Some file systems report a failed write only at the close; another descriptor keeps the lock
  // until the file has its name.
  const FileDescriptor lock(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (::fsync(file_.get()) != 0 || !file_.close()) return io_error("cannot write", path_);
  // Renaming replaces; a second name is only given where there is none.
  const bool has_both_names =
      replaces == Replaces::kNothing && ::link(temporary_.c_str(), target_.c_str()) == 0;
  if (has_both_names) {
    ::unlink(temporary_.c_str());
  } else {
    if (replaces == Replaces::kNothing && errno == EEXIST) return false;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return io_error("cannot write", path_);
  }
  temporary_.clear();
  // The new name is on the disk only when the folder is.
  const fs::path folder = folder_of(target_);
  const FileDescriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have nothing to sync there, and say so.
  const bool synced = parent.is_open() && (::fsync(parent.get()) == 0 || errno == EINVAL);
  if (!synced) return io_error("cannot sync", folder);
  return true;
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes,
                                   std::optional<mode_t> mode) {
  auto file = create_with(path, bytes, mode);
  if (!file) return tl::unexpected(std::move(file.error()));
  return file->commit();
}

Result<bool> write_new_file(const fs::path& path, std::string_view bytes) {
  auto file = create_with(path, bytes, std::nullopt);
  if (!file) return tl::unexpected(std::move(file.error()));
  return file->commit_new();
}

void remove_stale_temporaries(const fs::path& folder) { remove_temporaries(folder, {}); }

Result<std::string> read_file(const fs::path& path, std::uint64_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) return io_error("cannot read", path);
  const bool may_wait = !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  std::string content;
  std::array<char, 65536> block{};
  while (true) {
    if (may_wait && !wait_for_input(file.get())) {
      if (errno != ETIMEDOUT) return io_error("cannot read", path);
      return fail(Errc::kIo, "cannot read " + path.string() + ": nothing came for ten seconds");
    }
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
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
