#include "apps/tensorboard/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "common/try_again.h"

namespace pacml::apps {
namespace {

template <class Number>
void append_little_endian(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

RecordFile::RecordFile(std::filesystem::path path) : path_(std::move(path)) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC;
  file_ = FileDescriptor(::open(path_.c_str(), kNew, 0644));
  if (!file_.is_open()) throw_system_error("cannot write " + path_.string(), errno);
}

bool RecordFile::cut_torn_record() const { return ::ftruncate(file_.get(), whole_) == 0; }

Result<void> RecordFile::append(std::string_view record) {
  torn_ = torn_ && !cut_torn_record();
  if (torn_) return fail(Errc::kIo, "cannot cut what is torn off " + path_.string());
  std::string framed;
  framed.reserve(record.size() + 16);
  append_little_endian(framed, std::uint64_t{record.size()});
  append_little_endian(framed, masked_crc32c(framed));
  framed += record;
  append_little_endian(framed, masked_crc32c(record));
  ssize_t written = -1;
  do {
    written = ::write(file_.get(), framed.data(), framed.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    return fail(Errc::kIo, "cannot write " + path_.string() + ": " + std::strerror(errno));
  }
  if (static_cast<std::size_t>(written) != framed.size()) {
    torn_ = !cut_torn_record();
    return fail(Errc::kIo, "cannot write " + path_.string() + ": the disk took part of a record");
  }
  whole_ += written;
  return {};
}

}  // namespace pacml::apps
