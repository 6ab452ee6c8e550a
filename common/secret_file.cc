#include "common/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/file_descriptor.h"
#include "common/try_again.h"

namespace pacml {
namespace {

constexpr const char* kWhiteSpace = " \t\r\n";

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, const std::string& why,
                                  bool passes = false) {
  return tl::unexpected(Error{Errc::kIo, "cannot read " + path.string() + ": " + why, passes});
}

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, int error) {
  return cannot_read(path, std::strerror(error), passes_by_itself(error));
}

// Whether nobody but those who are meant to can read or write the file.
bool is_private(const struct stat& file) {
  const mode_t others = file.st_mode & (S_IRWXG | S_IRWXO);
  return others == 0 || (file.st_uid == 0 && others == S_IRGRP);
}

// Whoever may write the folder may put another file in its place, but for a sticky one's (/tmp).
bool may_be_replaced(const std::filesystem::path& folder, mode_t& mode) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;  // then it cannot be read either
  mode = status.st_mode;
  return (mode & (S_IWGRP | S_IWOTH)) != 0 && (mode & S_ISVTX) == 0;
}

std::string octal(mode_t mode) {
  std::string digits = "0";
  for (const int shift : {6, 3, 0}) digits += static_cast<char>('0' + ((mode >> shift) & 7U));
  return digits;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

}  // namespace

Result<std::string> read_secret_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat file {};
  if (!opened.is_open() || ::fstat(opened.get(), &file) != 0) return cannot_read(path, errno);
  if (!S_ISREG(file.st_mode)) return cannot_read(path, "it is no plain file");
  if (!is_private(file)) {
    return fail(Errc::kIo, path.string() + " holds a secret, but its mode " + octal(file.st_mode) +
                               " lets others at it; chmod 600 " + path.string());
  }
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path{"."};
  if (mode_t mode = 0; may_be_replaced(folder, mode)) {
    return fail(Errc::kIo, path.string() + " holds a secret, but the mode " + octal(mode) +
                               " of its folder lets others replace it; chmod 700 " +
                               folder.string());
  }
  std::string text(max_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(opened.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > max_bytes) {
    return fail(Errc::kOverLimit, path.string() + " is longer than the " +
                                      std::to_string(max_bytes) + " bytes that a secret may have");
  }
  text.resize(size);
  text = trimmed(text);
  if (text.empty()) return cannot_read(path, "it is empty");
  return text;
}

}  // namespace pacml
