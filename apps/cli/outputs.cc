#include "apps/cli/outputs.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/cli/files.h"
#include "common/config/source.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const OptionSpec& spec) {
  std::vector<std::string> words;
  std::visit(
      [&words](const auto* target) {
        using Target = std::remove_cvref_t<decltype(*target)>;
        if constexpr (std::is_same_v<Target, std::string>) words.push_back(*target);
        if constexpr (std::is_same_v<Target, std::vector<std::string>>) words = *target;
        if constexpr (std::is_same_v<Target, std::optional<std::string>>) {
          if (*target) words.push_back(**target);
        }
      },
      spec.target);
  std::erase(words, "");
  return words;
}

bool is_device(const fs::path& path) {
  std::error_code ignored;
  return fs::is_other(path, ignored);
}

// Also of links, and of a file that is not there yet.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;
  const fs::path whole = fs::weakly_canonical(one, error);
  return !error && whole == fs::weakly_canonical(other, error) && !error;
}

// Whether that is FOLDER/MODEL/graph.txt, where job graphs are read of the folder.
bool is_graph_in(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  return !error && whole.filename() == "graph.txt" &&
         is_same_file(folder, whole.parent_path().parent_path());
}

// The file itself, or the folder of job graphs that it is in.
bool leads_to(const std::string& path, const fs::path& file) {
  return is_same_file(path, file) || is_graph_in(path, file);
}

// "FILE", "KEY=FILE", "[FILE" or "FILE]", each also with something behind it as in
// "FILE+search:K=64".
bool names_one_file(const std::string& word, const fs::path& file) {
  constexpr std::size_t kLongest = 4096;  // of a path, with its key
  if (word.empty() || word.size() > kLongest) return false;
  if (leads_to(word, file)) return true;
  constexpr std::string_view kAround = " '\"[]";
  const std::size_t first = word.find_first_not_of(kAround);
  if (first == std::string::npos) return false;
  const std::string bare = word.substr(first, word.find_last_not_of(kAround) - first + 1);
  if (bare != word) return names_one_file(bare, file);
  if (const auto equals = word.find('='); equals != std::string::npos) {
    if (names_one_file(word.substr(equals + 1), file)) return true;
  }
  const auto plus = word.rfind('+');
  return plus != std::string::npos && names_one_file(word.substr(0, plus), file);
}

// One of several, too, as in "FILE,FILE" or "KEY=[FILE, FILE]".
bool names_file(const std::string& word, const fs::path& file) {
  if (names_one_file(word, file)) return true;  // which may have a comma in its name
  return std::ranges::any_of(std::views::split(word, ','), [&file](const auto& part) {
    return names_one_file(std::string(part.begin(), part.end()), file);
  });
}

// Most values are numbers and names of choices, which a file may be called by chance.
bool may_be_path(const std::string& value) {
  return value.find_first_of("./") != std::string::npos;
}

void add_paths(const ConfigNode& node, std::vector<std::string>& paths) {
  if (node.kind == ConfigNode::Kind::kScalar && may_be_path(node.text)) paths.push_back(node.text);
  for (const ConfigNode& item : node.items) add_paths(item, paths);
  for (const ConfigEntry& entry : node.entries) add_paths(entry.value, paths);
}

// The configuration that a word names: a file, or that of a run's folder, also with something
// behind it as in "RUN+search".
fs::path configuration_of(const OptionSpec& spec, const std::string& word) {
  if (spec.name == "CONFIG" || spec.placeholder == "CONFIG") return word;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(word, ignored);
  return fs::path(is_folder ? word : word.substr(0, word.find('+'))) / "config.yaml";
}

// Every value that stands there and may be a path, and the files that it extends; none where it
// cannot be read.
std::vector<std::string> paths_in(const fs::path& configuration) {
  std::vector<std::string> paths;
  std::error_code ignored;
  // What comes through a pipe can be read once.
  if (!fs::is_regular_file(configuration, ignored)) return paths;
  try {
    const auto source = ConfigSource::from_file(configuration);
    add_paths(source.root(), paths);
    for (const fs::path& file : source.files()) paths.push_back(file.string());
  } catch (const UserError&) {  // which the command will say
  }
  return paths;
}

[[noreturn]] void refuse_to_overwrite(const OptionSpec& output, const std::string& file,
                                      const std::string& reader) {
  throw UserError(output.name + " " + file + " is what " + reader +
                  " names, and would be overwritten; name another file");
}

void check_not_named_again(const Options& options, const OptionSpec& output,
                           const std::string& file) {
  // Where there is none, a word that is no file's name may well be the same.
  std::error_code ignored;
  const bool is_there = fs::exists(file, ignored);
  for (const OptionSpec& other : options.specs()) {
    if (&other == &output) continue;
    for (const std::string& word : words_of(other)) {
      if (names_file(word, file)) {
        if (other.writes != Writes::kNothing) {
          throw UserError(output.name + " " + file + " is what " + other.name +
                          " is to be written to; name two files");
        }
        if (is_there) refuse_to_overwrite(output, file, other.name);
      }
      if (!is_there) continue;
      const fs::path configuration = configuration_of(other, word);
      for (const std::string& path : paths_in(configuration)) {
        if (leads_to(path, file)) refuse_to_overwrite(output, file, configuration.string());
      }
    }
  }
}

}  // namespace

void check_outputs(const Options& options,
                   const std::function<void(const std::filesystem::path&, Writes)>& refuse) {
  for (const OptionSpec& spec : options.specs()) {
    if (spec.writes == Writes::kNothing) continue;
    for (const std::string& file : words_of(spec)) {
      std::error_code ignored;
      const bool is_folder = fs::is_directory(file, ignored);
      if (spec.writes == Writes::kFile) check_writable(file);
      if (is_folder || is_device(file)) continue;
      check_not_named_again(options, spec, file);
      if (!refuse) continue;
      try {
        refuse(file, spec.writes);
      } catch (const UserError& error) {
        throw UserError(spec.name + ": " + error.what());
      }
    }
  }
}

}  // namespace pacml::apps
