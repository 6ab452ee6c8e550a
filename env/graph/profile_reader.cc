#include "env/graph/profile_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "common/atomic_file.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/try_again.h"

namespace pacml::env {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr std::array<std::string_view, 4> kKeys = {"forward_compute_time", "backward_compute_time",
                                                   "activation_size", "parameter_size"};
constexpr std::string_view kOptimizerKey = "optimizer_size";
constexpr std::uint64_t kMaxFileBytes = UINT64_C(1) << 28;
constexpr int kMaxOps = 1'000'000;   // ids above this are a broken file, not a model
constexpr double kMaxFigure = 1e30;  // as are times and sizes; sums of them stay finite

// Where in which file we are; turns a complaint into the one sentence that the user sees.
struct Place {
  std::string_view source;
  int line = 0;
  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(std::string(source) + ":" + std::to_string(line) + ": " + what);
  }
};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> pieces;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  pieces.push_back(text);
  return pieces;
}

int parse_node(std::string_view text, const Place& place) {
  text = trim(text);
  constexpr std::string_view kPrefix = "node";
  const auto id =
      text.starts_with(kPrefix) ? read_number<int>(text.substr(kPrefix.size())) : std::nullopt;
  if (!id || *id < 1 || *id > kMaxOps) {
    place.refuse("expected node<ID> with an id from 1, found \"" + std::string(text.substr(0, 40)) +
                 "\"");
  }
  return *id;
}

double parse_number(std::string_view text, std::string_view key, const Place& place) {
  text = trim(text);
  const auto value = read_number<double>(text);
  if (!value || !(*value >= 0 && *value <= kMaxFigure)) {
    place.refuse(std::string(key) + " must be a number from 0 to 1e30, found \"" +
                 std::string(text.substr(0, 40)) + "\"");
  }
  return *value;
}

// A number, or a bracketed list of numbers that stands for its sum.
double parse_value(std::string_view text, std::string_view key, const Place& place) {
  text = trim(text);
  if (!text.starts_with('[')) return parse_number(text, key, place);
  if (!text.ends_with(']')) place.refuse(std::string(key) + " opens a list that never closes");
  double sum = 0;
  for (const auto item : split(text.substr(1, text.size() - 2), ";")) {
    sum += parse_number(item, key, place);
  }
  return sum;
}

ForwardOp parse_op(const std::vector<std::string_view>& pieces, const Place& place) {
  ForwardOp op;
  op.id = parse_node(pieces[0], place);
  op.description = std::string(trim(pieces[1]));
  const auto fields = split(pieces[2], ", ");
  if (fields.size() < kKeys.size()) {
    place.refuse(
        "expected forward_compute_time, backward_compute_time, activation_size and "
        "parameter_size");
  }
  std::array<double, kKeys.size()> values{};
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const auto equals = fields[i].find('=');
    if (equals == std::string_view::npos || trim(fields[i].substr(0, equals)) != kKeys[i]) {
      place.refuse("expected " + std::string(kKeys[i]) + "=..., found \"" +
                   std::string(trim(fields[i]).substr(0, 40)) + "\"");
    }
    values[i] = parse_value(fields[i].substr(equals + 1), kKeys[i], place);
  }
  op.forward_time = values[0];
  op.backward_time = values[1];
  op.activation_bytes = values[2];
  op.parameter_bytes = values[3];
  for (std::size_t i = kKeys.size(); i < fields.size(); ++i) {
    const auto equals = fields[i].find('=');
    if (equals == std::string_view::npos || trim(fields[i].substr(0, equals)) != kOptimizerKey) {
      continue;
    }
    op.optimizer_bytes = parse_value(fields[i].substr(equals + 1), kOptimizerKey, place);
  }
  return op;
}

// One op that lies on a cycle, if there is one (Kahn's algorithm: what is left over).
std::optional<int> find_cycle(const Profile& profile) {
  std::vector<int> pending(profile.ops.size() + 1, 0);
  std::vector<std::vector<int>> successors(profile.ops.size() + 1);
  for (const auto& [from, to] : profile.dependencies) {
    successors[static_cast<std::size_t>(from)].push_back(to);
    ++pending[static_cast<std::size_t>(to)];
  }
  std::vector<int> ready;
  for (const auto& op : profile.ops) {
    if (pending[static_cast<std::size_t>(op.id)] == 0) ready.push_back(op.id);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    for (const int to : successors[static_cast<std::size_t>(ready[next])]) {
      if (--pending[static_cast<std::size_t>(to)] == 0) ready.push_back(to);
    }
  }
  if (ready.size() == profile.ops.size()) return std::nullopt;
  // Walk back from a blocked op: every blocked op has a blocked predecessor, so the walk must come
  // round to an op on a cycle.
  std::vector<int> predecessor(profile.ops.size() + 1, 0);
  for (const auto& [from, to] : profile.dependencies) {
    if (pending[static_cast<std::size_t>(from)] > 0)
      predecessor[static_cast<std::size_t>(to)] = from;
  }
  const auto blocked = std::find_if(pending.begin(), pending.end(), [](int n) { return n > 0; });
  int op = static_cast<int>(blocked - pending.begin());
  for (std::size_t i = 0; i < profile.ops.size(); ++i)
    op = predecessor[static_cast<std::size_t>(op)];
  return op;
}

}  // namespace

Profile read_profile(std::istream& text, std::string model, std::string_view source) {
  Profile profile;
  profile.model = std::move(model);
  std::unordered_map<int, int> line_of_op;
  std::vector<int> line_of_dependency;
  std::map<std::pair<int, int>, int> seen;  // dependency -> line
  Place place{source};
  for (std::string line; std::getline(text, line);) {
    ++place.line;
    if (trim(line).empty()) continue;
    const auto pieces = split(line, kSeparator);
    if (pieces.size() > 2) {
      ForwardOp op = parse_op(pieces, place);
      const auto [first, is_new] = line_of_op.emplace(op.id, place.line);
      if (!is_new) {
        place.refuse("node" + std::to_string(op.id) + " was already described on line " +
                     std::to_string(first->second));
      }
      profile.ops.push_back(std::move(op));
    } else if (pieces.size() == 2) {
      const std::pair dependency{parse_node(pieces[0], place), parse_node(pieces[1], place)};
      // What tells it from an op that lost its figures.
      if (!line.starts_with('\t')) place.refuse("a dependency must begin with a tab");
      if (dependency.first == dependency.second) place.refuse("an op cannot depend on itself");
      if (const auto [first, is_new] = seen.emplace(dependency, place.line); !is_new) {
        place.refuse("the dependency of node" + std::to_string(dependency.second) + " on node" +
                     std::to_string(dependency.first) + " was already given on line " +
                     std::to_string(first->second));
      }
      profile.dependencies.push_back(dependency);
      line_of_dependency.push_back(place.line);
    } else {
      place.refuse(
          "expected an op (node<ID> -- description -- figures) or a dependency (node<U> -- "
          "node<V>)");
    }
  }
  if (text.bad()) throw UserError(std::string(source) + ": cannot be read");
  if (profile.ops.empty()) throw UserError(std::string(source) + ": holds no ops");
  for (const auto& op : profile.ops) {
    if (op.id > static_cast<int>(profile.ops.size())) {
      place.line = line_of_op.at(op.id);
      place.refuse("ids must be exactly 1.." + std::to_string(profile.ops.size()) +
                   " (one per op), found node" + std::to_string(op.id));
    }
  }
  for (std::size_t i = 0; i < profile.dependencies.size(); ++i) {
    place.line = line_of_dependency[i];
    for (const int id : {profile.dependencies[i].first, profile.dependencies[i].second}) {
      if (!line_of_op.contains(id)) {
        place.refuse("node" + std::to_string(id) + " is not described anywhere in the file");
      }
    }
  }
  if (std::all_of(profile.ops.begin(), profile.ops.end(), [](const ForwardOp& op) {
        return op.forward_time == 0 && op.backward_time == 0;
      })) {
    throw UserError(std::string(source) + ": no op takes any time");
  }
  if (const auto on_cycle = find_cycle(profile)) {
    throw UserError(std::string(source) + ": the graph has a cycle through node" +
                    std::to_string(*on_cycle));
  }
  return profile;
}

Profile read_profile_file(const std::filesystem::path& path) {
  const auto text = read_file(path, kMaxFileBytes);
  if (!text) throw_error(text.error());
  std::istringstream lines(*text);
  const bool named_by_folder = path.filename() == "graph.txt";
  return read_profile(
      lines, named_by_folder ? path.parent_path().filename().string() : path.stem().string(),
      path.string());
}

std::vector<std::string> list_profiles(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    if (passes_by_itself(error.value())) throw_system_error(directory.string(), error.value());
    throw UserError(directory.string() + ": no such folder of profiles");
  }
  std::vector<std::string> models;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code closed;  // to us, such as a volume's lost+found
    const auto graph = entry->path() / "graph.txt";
    if (std::filesystem::exists(graph, closed)) {
      models.push_back(entry->path().filename().string());
    } else if (passes_by_itself(closed.value())) {
      throw_system_error(graph.string(), closed.value());
    }
  }
  if (error) throw_system_error(directory.string(), error.value());
  if (models.empty()) {
    throw UserError(directory.string() + ": holds no <model>/graph.txt");
  }
  std::sort(models.begin(), models.end());
  return models;
}

}  // namespace pacml::env
