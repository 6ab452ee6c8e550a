#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pacml::apps {

// A file that another process writes, piece by piece. One that was cut, or that took its place
// under the same name, is read from its beginning: it is told by its length and its first bytes,
// since a new file may well have the inode of the one that was removed. Thread-confined.
class FollowedFile {
 public:
  enum class From { kBeginning, kEnd };
  // Begins with what is there already, or behind it.
  explicit FollowedFile(std::filesystem::path path, From from = From::kBeginning);

  struct Piece {
    std::string bytes;
    bool is_end = false;      // of the file, as it is now
    bool is_another = false;  // than was read before
  };
  // What stands behind what is done with, at most so many bytes; nullopt: the file is not there.
  [[nodiscard]] std::optional<Piece> read(std::size_t most);
  // So many bytes of the last piece are done with; the next one begins behind them.
  void advance(std::size_t bytes) { offset_ += bytes; }

 private:
  std::filesystem::path path_;
  std::uintmax_t offset_ = 0;
  std::string beginning_;  // of the file, as far as it was there
};

}  // namespace pacml::apps
