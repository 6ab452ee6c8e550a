#include "common/appended_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace pacml {

AppendedFile::AppendedFile(FileDescriptor file, std::filesystem::path path, const char* piece)
    : file_(std::move(file)), path_(std::move(path)), piece_(piece) {}

Result<void> AppendedFile::append(std::string_view bytes) {
  const std::string what = "cannot write " + path_.string() + ": ";
  torn_ = torn_ && !cut();
  struct stat status {};
  if (torn_ || ::fstat(file_.get(), &status) != 0) {
    return fail(Errc::kIo, what + std::strerror(errno));
  }
  whole_ = status.st_size;
  ssize_t written = -1;
  do {
    written = ::write(file_.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return fail(Errc::kIo, what + std::strerror(errno));
  if (static_cast<std::size_t>(written) != bytes.size()) {
    // Nothing can be cut off a device.
    torn_ = S_ISREG(status.st_mode) && !cut();
    return fail(Errc::kIo, what + "the disk took part of a " + piece_);
  }
  return {};
}

bool AppendedFile::cut() { return ::ftruncate(file_.get(), whole_) == 0; }

}  // namespace pacml
