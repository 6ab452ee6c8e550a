#include "apps/tensorboard/record_file.h"

#include <fcntl.h>

#include <boost/crc.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "common/file_descriptor.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

template <class Number>
void append_little_endian(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
}

AppendedFile open_new(std::filesystem::path path) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), kNew, 0644));
  if (!file.is_open()) throw_system_error("cannot write " + path.string(), errno);
  return {std::move(file), std::move(path), "record"};
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

RecordFile::RecordFile(std::filesystem::path path) : file_(open_new(std::move(path))) {}

Result<void> RecordFile::append(std::string_view record) {
  std::string framed;
  framed.reserve(record.size() + 16);
  append_little_endian(framed, std::uint64_t{record.size()});
  append_little_endian(framed, masked_crc32c(framed));
  framed += record;
  append_little_endian(framed, masked_crc32c(record));
  return file_.append(framed);
}

}  // namespace pacml::apps
