#include "common/json_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/try_again.h"

namespace pacml {
namespace {

std::string reason(const std::filesystem::path& path) {
  return "cannot write " + path.string() + ": " + std::strerror(errno);
}

// Where the last whole line ends.
off_t end_of_last_line(int fd, off_t size) {
  std::array<char, 4096> block{};
  while (size > 0) {
    const off_t start = std::max<off_t>(0, size - static_cast<off_t>(block.size()));
    const ssize_t got = ::pread(fd, block.data(), static_cast<std::size_t>(size - start), start);
    if (got <= 0) return size;
    for (ssize_t i = got; i > 0; --i) {
      if (block[static_cast<std::size_t>(i - 1)] == '\n') return start + i;
    }
    size = start;
  }
  return 0;
}

}  // namespace

JsonLinesWriter::JsonLinesWriter(std::filesystem::path path) : path_(std::move(path)) {
  file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_.is_open() || !cut_torn_line()) {
    throw_system_error("cannot write " + path_.string(), errno);
  }
}

bool JsonLinesWriter::cut_torn_line() {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode)) return true;
  const off_t end = end_of_last_line(file_.get(), status.st_size);
  return end == status.st_size || ::ftruncate(file_.get(), end) == 0;
}

Result<void> JsonLinesWriter::write(const nlohmann::json& object) {
  torn_ = torn_ && !cut_torn_line();
  if (torn_) return fail(Errc::kIo, reason(path_));
  // Foreign bytes inside a string must not end the run.
  const std::string line =
      object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  ssize_t written = -1;
  do {
    written = ::write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return fail(Errc::kIo, reason(path_));
  if (static_cast<std::size_t>(written) != line.size()) {
    torn_ = !cut_torn_line();
    return fail(Errc::kIo, "cannot write " + path_.string() + ": the disk took part of a line");
  }
  return {};
}

}  // namespace pacml
