#include "apps/run/run_summary.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/atomic_file.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/json_at.h"
#include "common/json_text.h"
#include "common/plain_file.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const ConfigNode* node) {
  return node != nullptr && node->kind == ConfigNode::Kind::kScalar ? node->text : std::string();
}

std::optional<std::chrono::seconds> age_of(const fs::path& file) {
  std::error_code absent;
  const auto written = fs::last_write_time(file, absent);
  if (absent) return std::nullopt;
  const auto age = fs::file_time_type::clock::now() - written;
  return std::max(std::chrono::seconds{0}, std::chrono::duration_cast<std::chrono::seconds>(age));
}

void read_settings(const RunDirectory& run, RunSummary& summary) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;  // more is no configuration
  std::string text;
  try {
    auto read = read_file(run.config_file(), kMostBytes);
    if (!read) throw UserError(read.error().detail);
    text = *std::move(read);
    const auto source = ConfigSource::from_text(run.config_file().string(), text);
    if (source.root().entries.empty()) throw UserError("config.yaml sets nothing");
    const ConfigNode* env = source.root().find("env");
    summary.task = text_of(env != nullptr ? env->find("task") : nullptr);
    summary.algorithm = text_of(source.root().find("algorithm"));
    summary.seed = text_of(source.root().find("seed"));
    // Whoever lists runs does not wait for their tasks' interpreters, nor for what they run.
    static_cast<void>(names_code(source) ? read_config_without_task(source)
                                         : read_config<TrainConfig>(source));
  } catch (const UserError& error) {
    summary.notes.push_back(
        "config.yaml is cut off, or of another version of pacml, which this one cannot use: " +
        std::string(error.what()));
  }
  if (summary.task.empty() && summary.algorithm.empty()) return;
  try {
    TrainConfig defaults;
    if (!summary.task.empty()) defaults.env = env::TaskConfig(summary.task);
    summary.settings = compare_configs(text, dump_config(defaults));
  } catch (const UserError&) {  // what is wrong has been noted
  }
}

bool holds_remains(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "metrics.jsonl", error) ||
         fs::is_directory(folder / "checkpoints", error);
}

void find_below(const fs::path& folder, int depth, std::size_t most, FoundRuns& found) {
  std::error_code error;
  if (fs::exists(folder / "config.yaml", error)) {
    if (found.runs.size() < most) {
      found.runs.push_back(folder);
    } else {
      found.are_all = false;
    }
    return;
  }
  const std::size_t before = found.runs.size();
  if (depth > 0) {
    // What cannot be listed, or goes meanwhile, holds no runs.
    fs::directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::directory_iterator() && found.are_all; entry.increment(error)) {
      std::error_code gone;
      if (!entry->is_directory(gone) || entry->is_symlink(gone)) continue;
      find_below(entry->path(), depth - 1, most, found);
    }
  }
  // A folder of runs may have others of these names beside them.
  if (found.runs.size() == before && found.remains.size() < most && holds_remains(folder)) {
    found.remains.push_back(folder);
  }
}

}  // namespace

const char* spell(RunState state) {
  switch (state) {
    case RunState::kTraining:
      return "training";
    case RunState::kEnded:
      return "ended";
    case RunState::kNeverBegan:
      return "never began";
  }
  return "?";
}

RunSummary summarise_run(const fs::path& path) {
  const RunDirectory run = RunDirectory::open(path);
  RunSummary summary;
  summary.name = run.name();
  summary.path = path;
  read_settings(run, summary);
  summary.since_news = age_of(run.metrics_file());
  if (RunLock::is_held(path)) {
    summary.state = RunState::kTraining;
  } else if (summary.since_news) {
    summary.state = RunState::kEnded;
  }
  std::error_code none;
  if (!fs::exists(run.checkpoints(), none) || fs::is_empty(run.checkpoints(), none)) {
    summary.notes.emplace_back("it has no checkpoint: there is no policy to look at");
  }
  return summary;
}

EndOfMetrics read_end_of_metrics(const fs::path& file) {
  constexpr std::uintmax_t kTail = std::uintmax_t{1} << 18;  // a line is some kilobytes
  EndOfMetrics end{json::object(), {}};
  int whole = 0;
  int broken = 0;
  bool is_cut = false;
  std::error_code absent;
  const auto size = fs::file_size(file, absent);
  std::ifstream in = open_plain_file(file);
  if (!absent && in.is_open() &&
      in.seekg(static_cast<std::streamoff>(size - std::min(size, kTail)))) {
    std::string line;
    if (size > kTail) std::getline(in, line);  // begins before
    while (std::getline(in, line)) {
      is_cut = in.eof();
      if (is_cut) break;
      if (auto parsed = parse_json_text(line); parsed && parsed->is_object()) {
        end.newest = *std::move(parsed);
        ++whole;
      } else {
        ++broken;
      }
    }
  }
  end.wrong = what_is_wrong(broken, is_cut);
  if (whole == 0) end.wrong.emplace_back("metrics.jsonl tells nothing");
  return end;
}

std::vector<std::string> what_is_wrong(std::int64_t broken, bool is_cut) {
  std::vector<std::string> wrong;
  if (broken > 0) {
    wrong.push_back(std::to_string(broken) + (broken == 1 ? " line" : " lines") +
                    " of metrics.jsonl cannot be read");
  }
  if (is_cut) wrong.emplace_back("metrics.jsonl ends within a line");
  return wrong;
}

json newest_metrics(const fs::path& file) { return read_end_of_metrics(file).newest; }

RunFigures figures_of(const json& line) {
  RunFigures figures;
  figures.decisions = number_at(line, "/decisions");
  figures.seconds = number_at(line, "/seconds");
  figures.evaluation = evaluation_of(line);
  return figures;
}

FoundRuns find_runs(const fs::path& folder, int depth, std::size_t most) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UserError(folder.string() + " is no folder");
  }
  FoundRuns found;
  find_below(folder, depth, most, found);
  std::ranges::sort(found.runs);
  std::ranges::sort(found.remains);
  return found;
}

std::string age_text(std::chrono::seconds age) {
  const auto s = age.count();
  if (s < 2) return "now";
  if (s < 120) return std::to_string(s) + " s";
  if (age < std::chrono::hours(2)) return std::to_string(s / 60) + " min";
  if (age < std::chrono::hours(48)) return std::to_string(s / 3600) + " h";
  return std::to_string(s / 86400) + " d";
}

}  // namespace pacml::apps
