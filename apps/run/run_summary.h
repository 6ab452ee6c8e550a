#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/evaluation_figures.h"
#include "common/config/diff.h"

namespace pacml::apps {

enum class RunState {
  kTraining,    // a process of this machine holds it
  kEnded,       // none does
  kNeverBegan,  // it has told nothing, and none does
};

[[nodiscard]] const char* spell(RunState state);  // "training", "ended", "never began"

// What a run is, as far as its folder tells: one that is being written, cut off, damaged or of
// another version of this program tells less, and a note says what is wrong. Value type.
struct RunSummary {
  std::string name;
  std::filesystem::path path;
  RunState state = RunState::kNeverBegan;
  std::optional<std::chrono::seconds> since_news;  // since its metrics were written last
  std::string task;                                // "partitioning"; empty: not known
  std::string algorithm;
  std::string seed;
  // Settings that differ from the defaults of its task: `here` in the run, `there` by default.
  std::vector<ConfigDifference> settings;
  std::vector<std::string> notes;  // sentences: what is wrong with the folder
};

// UserError: there is no run.
[[nodiscard]] RunSummary summarise_run(const std::filesystem::path& path);

// How a run did, out of a line of its metrics; what the line does not say is absent.
struct RunFigures {
  std::optional<double> decisions;
  std::optional<double> seconds;  // of training
  EvaluationFigures evaluation;
};
// The last 256 KiB of a metrics file, which is all that a list of runs looks at.
struct EndOfMetrics {
  nlohmann::json newest;  // the last line that is whole; an empty object where there is none
  // Sentences, of a file that nobody writes any more: lines that are none of metrics, a last one
  // that is cut off, or none at all.
  std::vector<std::string> wrong;
};
[[nodiscard]] EndOfMetrics read_end_of_metrics(const std::filesystem::path& file);
// Such sentences, by how many lines are none of metrics, and whether the last one is cut off. Pure.
[[nodiscard]] std::vector<std::string> what_is_wrong(std::int64_t broken, bool is_cut);
// Of that, the newest line.
[[nodiscard]] nlohmann::json newest_metrics(const std::filesystem::path& file);
// Pure.
[[nodiscard]] RunFigures figures_of(const nlohmann::json& line);

// Folders of runs, by path.
struct FoundRuns {
  std::vector<std::filesystem::path> runs;
  // Folders that have metrics or checkpoints, but no configuration, which makes them none.
  std::vector<std::filesystem::path> remains;
  bool are_all = true;  // otherwise there are more, which are left out
};
inline constexpr std::size_t kMostFound = 10'000;
// `folder` itself, or what is below it, down to `depth` levels, at most `most` of each. UserError:
// `folder` is none.
[[nodiscard]] FoundRuns find_runs(const std::filesystem::path& folder, int depth = 3,
                                  std::size_t most = kMostFound);

// "now", "42 s", "7 min", "3 h", "12 d". Pure.
[[nodiscard]] std::string age_text(std::chrono::seconds age);

}  // namespace pacml::apps
