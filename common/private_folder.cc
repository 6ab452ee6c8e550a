#include "common/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "common/result.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".owner";

// Six characters of mkdtemp's follow the name.
bool is_called(const std::string& file, const std::string& name) {
  return file.size() == name.size() + 7 && file.starts_with(name + "-");
}

bool is_ours(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

// The lock of a folder without an owner; none: it has one, or is being made just now.
FileDescriptor take_over(const fs::path& folder) {
  FileDescriptor lock(::open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  return {};
}

// For temporary files; need not be there. TMPDIR counts as unset where it is empty.
fs::path temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

}  // namespace

PrivateFolder::PrivateFolder(const std::string& name) {
  remove_left_private_folders(name);
  const std::string pattern = (temporary_folder() / (name + "-XXXXXX")).string();
  const auto refuse = [&pattern](int error) {
    return UserError("cannot create the folder " + pattern + ": " + std::strerror(error));
  };
  std::string made = pattern;
  if (::mkdtemp(made.data()) == nullptr) throw refuse(errno);
  path_ = made;
  // The lock has its name only once it is held, so that nobody takes the folder for a left one.
  const fs::path making = path_ / ".making";
  lock_ = FileDescriptor(::open(making.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool held = lock_.is_open() && ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0;
  kept_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool kept = kept_.is_open() && ::flock(kept_.get(), LOCK_SH | LOCK_NB) == 0;
  if (held && kept && ::rename(making.c_str(), (path_ / kLock).c_str()) == 0) return;
  const int error = errno;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  throw refuse(error);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_left_private_folders(const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(temporary_folder(), ignored)) {
    const fs::path& folder = entry.path();
    if (!is_called(folder.filename().string(), name) || !is_ours(folder)) continue;
    const FileDescriptor lock = take_over(folder);
    if (!lock.is_open()) continue;
    std::error_code failed;
    fs::remove_all(folder, failed);
  }
}

}  // namespace pacml
