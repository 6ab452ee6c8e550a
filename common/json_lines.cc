#include "common/json_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/file_descriptor.h"
#include "common/json_text.h"
#include "common/try_again.h"

namespace pacml {
namespace {

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

// Of a process that ended while it wrote.
bool cut_torn_line(int fd, off_t size) {
  const off_t end = end_of_last_line(fd, size);
  return end == size || ::ftruncate(fd, end) == 0;
}

AppendedFile open_lines(std::filesystem::path path) {
  const std::string what = "cannot write " + path.string();
  constexpr int kAppends = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), kAppends, 0644));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) throw_system_error(what, errno);
  // When it is full, it would hold up whoever writes.
  if (S_ISFIFO(status.st_mode)) throw UserError(what + ": it is a pipe");
  if (S_ISREG(status.st_mode) && !cut_torn_line(file.get(), status.st_size)) {
    throw_system_error(what, errno);
  }
  return {std::move(file), std::move(path), "line"};
}

}  // namespace

JsonLinesWriter::JsonLinesWriter(std::filesystem::path path) : file_(open_lines(std::move(path))) {}

Result<void> JsonLinesWriter::write(const nlohmann::json& object) {
  // Foreign bytes inside a string must not end the run.
  return file_.append(json_text(object) + "\n");
}

}  // namespace pacml
