#include "apps/run/run_tags.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "common/atomic_file.h"
#include "common/plain_file.h"
#include "common/result.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kLongest = 64;
constexpr std::size_t kMostTags = 1000;  // of a file that somebody else may have written

bool is_tag(std::string_view text) {
  constexpr std::string_view kOthers = "._-";
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, fits);
}

std::filesystem::path file_of(const std::filesystem::path& run) { return run / "tags"; }

}  // namespace

void check_tags(const std::vector<std::string>& tags) {
  for (const std::string& tag : tags) {
    if (is_tag(tag)) continue;
    throw UserError("--tag \"" + tag +
                    "\": a tag is a word of letters, digits, '.', '_' and '-', " + "at most " +
                    std::to_string(kLongest) + " characters");
  }
}

std::vector<std::string> tags_of(const std::filesystem::path& run) {
  std::set<std::string> tags;
  std::ifstream file = open_plain_file(file_of(run));
  for (std::string line; tags.size() < kMostTags && std::getline(file, line);) {
    if (is_tag(line)) tags.insert(line);
  }
  return {tags.begin(), tags.end()};
}

void add_tags(const std::filesystem::path& run, const std::vector<std::string>& tags) {
  check_tags(tags);
  if (tags.empty()) return;
  auto all = tags_of(run);
  all.insert(all.end(), tags.begin(), tags.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string text;
  for (const std::string& tag : all) text += tag + "\n";
  std::error_code error;
  std::filesystem::create_directories(run, error);
  if (error) throw_system_error("cannot create the folder " + run.string(), error.value());
  if (const auto written = write_file_atomically(file_of(run), text); !written) {
    throw_error(written.error());
  }
}

void forget_tags(const std::filesystem::path& run) {
  std::error_code ignored;
  std::filesystem::remove(file_of(run), ignored);
}

}  // namespace pacml::apps
