#include "apps/run/followed_file.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "common/plain_file.h"

namespace pacml::apps {
namespace {

// A first line of metrics has the time and the rates of its moment within these.
constexpr std::size_t kTelling = 512;

std::string bytes_at(std::ifstream& file, std::uintmax_t offset, std::size_t most) {
  std::string bytes(most, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

std::uintmax_t size_of(std::ifstream& file) {
  file.seekg(0, std::ios::end);
  return static_cast<std::uintmax_t>(std::max<std::streamoff>(0, file.tellg()));
}

}  // namespace

FollowedFile::FollowedFile(std::filesystem::path path, From from) : path_(std::move(path)) {
  if (from == From::kBeginning) return;
  std::ifstream file = open_plain_file(path_);
  if (!file.is_open()) return;
  offset_ = size_of(file);
  beginning_ = bytes_at(file, 0, std::min<std::uintmax_t>(kTelling, offset_));
}

std::optional<FollowedFile::Piece> FollowedFile::read(std::size_t most) {
  std::ifstream file = open_plain_file(path_);
  if (!file.is_open()) return std::nullopt;
  const std::uintmax_t size = size_of(file);
  std::string beginning = bytes_at(file, 0, std::min<std::uintmax_t>(kTelling, size));
  Piece piece;
  piece.is_another = size < offset_ || !beginning.starts_with(beginning_);
  if (piece.is_another) offset_ = 0;
  beginning_ = std::move(beginning);
  piece.bytes = bytes_at(file, offset_, std::min<std::uintmax_t>(most, size - offset_));
  piece.is_end = offset_ + piece.bytes.size() >= size;
  return piece;
}

}  // namespace pacml::apps
