#include "common/transport/allow_list.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/atomic_file.h"
#include "common/result.h"
#include "common/try_again.h"

namespace pacml::transport {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;
constexpr std::size_t kLongestName = 64;
constexpr const char* kBlank = " \t\r";

// Takes the first word off `text`; empty: there is none.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlank));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

bool is_client_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kLongestName && plain(name.front()) &&
         std::ranges::all_of(name,
                             [&](char c) { return plain(c) || c == '.' || c == '_' || c == '-'; });
}

AllowList AllowList::parse(std::string_view text, const std::string& source) {
  if (text.size() > kMostBytes) {
    throw UserError(source + " is longer than " + std::to_string(kMostBytes) + " bytes");
  }
  AllowList list;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string where = source + " line " + std::to_string(number) + ": ";
    if (line.starts_with('#')) continue;
    const std::string_view key_text = take_word(line);
    if (key_text.empty()) continue;
    const auto key = decode_curve_key(key_text);
    if (!key) throw UserError(where + "does not begin with a public key, 40 characters of Z85");
    const std::string_view name = take_word(line);
    if (!is_client_name(name)) {
      throw UserError(where + "after the key stands the name of its holder: a letter or digit, " +
                      "then letters, digits, '.', '_' and '-'");
    }
    if (!take_word(line).empty()) throw UserError(where + "has more than a key and a name");
    const auto [entry, is_new] = list.names_.try_emplace(*key, name);
    if (!is_new) throw UserError(where + "the key of " + entry->second + " again");
  }
  return list;
}

const std::string* AllowList::find(const CurveKeyBytes& key) const {
  const auto found = names_.find(key);
  return found == names_.end() ? nullptr : &found->second;
}

AllowListFile::AllowListFile(std::filesystem::path path)
    : path_(std::move(path)), version_(look()), list_(read()) {}

const AllowList& AllowListFile::current() {
  const Version version = look();
  if (version == version_) return list_;
  // One that cannot be read is tried again, for what stood in the way may go without a change.
  try {
    list_ = read();
    version_ = version;
    spdlog::info("{} has changed: {} keys may connect", path_.string(), list_.size());
  } catch (const UserError& e) {
    if (version == complained_) return list_;
    complained_ = version;
    spdlog::error("{}; whoever might connect before still may, and nobody else", e.what());
  }
  return list_;
}

AllowListFile::Version AllowListFile::look() const {
  struct stat file {};
  if (::stat(path_.c_str(), &file) != 0) return {};
  return {file.st_dev, file.st_ino, file.st_size, file.st_ctim};
}

AllowList AllowListFile::read() const {
  struct stat file {};
  if (::stat(path_.c_str(), &file) == 0 && (file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw UserError(path_.string() + " says who may connect, but others than its owner may write" +
                    " it; chmod 644 " + path_.string());
  }
  const auto text = read_file(path_, kMostBytes);
  if (!text) throw_error(text.error());
  // Not a list that lets in nobody, but one that somebody is about to write.
  if (text->empty()) throw UserError(path_.string() + " is empty");
  return AllowList::parse(*text, path_.string());
}

}  // namespace pacml::transport
