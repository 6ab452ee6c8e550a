#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/terminal.h"
#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_summary.h"
#include "apps/run/run_tags.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

struct Listed {
  std::string name;  // as seen from the folder that was asked for
  RunSummary summary;
  RunFigures figures;
  std::vector<std::string> tags;
};

std::string state_text(const RunSummary& run) {
  std::string state(spell(run.state));
  if (!run.since_news) return state;
  const std::string age = age_text(*run.since_news);
  if (run.state == RunState::kEnded) return age == "now" ? "ended now" : "ended " + age + " ago";
  return run.since_news->count() > 30 ? state + ", silent for " + age : state;
}

std::string amount(const std::optional<double>& value) {
  if (!value) return "-";
  if (*value < 1e4) return format_number(*value, 0);
  return *value < 1e6 ? format_number(*value / 1e3, 1) + " k"
                      : format_number(*value / 1e6, 2) + " M";
}

std::string score(const std::optional<double>& value) {
  return format_number(value.value_or(std::numeric_limits<double>::quiet_NaN()), 4);
}

std::string gain_or_dash(const EvaluationFigures& figures) {
  const auto gain = figures.gain();
  if (!gain) return "-";
  return format_number(100 * std::abs(*gain), 1) + " % " + (*gain >= 0 ? "better" : "worse");
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string table_of(const std::vector<Listed>& runs) {
  std::vector<std::vector<std::string>> rows{{"run", "task", "algorithm", "seed", "state",
                                              "decisions", "objective", "best", "best baseline",
                                              "its score", "than that"}};
  for (const Listed& run : runs) {
    const EvaluationFigures& found = run.figures.evaluation;
    rows.push_back({run.name, or_dash(run.summary.task), or_dash(run.summary.algorithm),
                    or_dash(run.summary.seed), state_text(run.summary),
                    amount(run.figures.decisions), or_dash(found.objective), score(found.best),
                    or_dash(found.baseline), score(found.baseline_score), gain_or_dash(found)});
  }
  if (std::ranges::any_of(runs, [](const Listed& run) { return !run.tags.empty(); })) {
    rows[0].emplace_back("tags");
    for (std::size_t r = 0; r < runs.size(); ++r)
      rows[r + 1].push_back(or_dash(join(runs[r].tags)));
  }
  return align_columns(rows, columns_of_stdout());
}

nlohmann::ordered_json json_of(const std::vector<Listed>& runs) {
  auto list = nlohmann::ordered_json::array();
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  for (const Listed& run : runs) {
    const EvaluationFigures& found = run.figures.evaluation;
    nlohmann::ordered_json settings = nlohmann::ordered_json::object();
    for (const auto& difference : run.summary.settings) settings[difference.key] = difference.here;
    list.push_back({{"path", run.summary.path.string()},
                    {"task", run.summary.task},
                    {"algorithm", run.summary.algorithm},
                    {"seed", run.summary.seed},
                    {"tags", run.tags},
                    {"state", spell(run.summary.state)},
                    {"decisions", or_null(run.figures.decisions)},
                    {"seconds", or_null(run.figures.seconds)},
                    {"objective", found.objective},
                    {"best", or_null(found.best)},
                    {"baseline", found.baseline},
                    {"baseline_score", or_null(found.baseline_score)},
                    {"gain", or_null(found.gain())},
                    {"settings", std::move(settings)},
                    {"notes", run.summary.notes}});
  }
  return {{"runs", std::move(list)}};
}

class RunsCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"runs",
            "the runs below a folder: what they are, how they did, whether they train",
            {{"runs runs", "every run in runs/, down to three folders deep"},
             {"runs runs --tag paper", "those that were trained with --tag paper"},
             {"runs runs --out runs.json", "with the settings that are no defaults, as JSON"}}};
  }
  void declare(Options& options) override {
    options.argument("DIR", &folder_, "where they are");
    options.option("--tag NAME", &tags_, "only runs with this tag; may be repeated: with each");
    options.output("--out FILE.json", &out_, "write it as JSON, too");
  }
  [[nodiscard]] int run() override {
    check_tags(tags_);
    std::vector<Listed> runs;
    const FoundRuns found = find_runs(folder_);
    for (const fs::path& path : found.runs) {
      try {
        if (auto run = listed(path)) runs.push_back(*std::move(run));
      } catch (const UserError&) {  // it was one when it was found: whoever owns it clears it
        if (RunDirectory::holds_run(path)) throw;
      }
    }
    if (runs.empty()) {
      tell_of(found.remains, std::cerr);
      throw UserError("there is no run below " + folder_ +
                      (tags_.empty() ? "" : " with the tag " + join(tags_, " and ")));
    }
    std::cout << table_of(runs);
    for (const Listed& run : runs) {
      for (const std::string& note : run.summary.notes) {
        std::cout << shown(run.name) << ": " << shown(note) << "\n";
      }
    }
    if (!found.are_all) {
      std::cout << "there are more than " << kMostFound
                << " runs: the others are left out; name a folder further down\n";
    }
    tell_of(found.remains, std::cout);
    if (!out_.empty()) {
      write_user_file(out_, json_text(json_of(runs), 2) + "\n");
    }
    return 0;
  }

 private:
  // nullopt: it has not the tags.
  [[nodiscard]] std::optional<Listed> listed(const fs::path& path) const {
    Listed run;
    run.tags = tags_of(path);
    if (!std::ranges::includes(run.tags, sorted(tags_))) return std::nullopt;
    run.name = path == fs::path(folder_) ? RunDirectory::open(path).name()
                                         : path.lexically_relative(folder_).string();
    run.summary = summarise_run(path);
    const EndOfMetrics end = read_end_of_metrics(RunDirectory::open(path).metrics_file());
    run.figures = figures_of(end.newest);
    if (run.summary.state == RunState::kEnded) {
      run.summary.notes.insert(run.summary.notes.end(), end.wrong.begin(), end.wrong.end());
    }
    return run;
  }
  void tell_of(const std::vector<fs::path>& remains, std::ostream& out) const {
    for (const fs::path& path : remains) {
      const std::string name = path.lexically_relative(folder_).string();
      out << shown(name == "." ? folder_ : name)
          << " is no run: it has metrics or checkpoints, but its config.yaml is missing\n";
    }
  }
  static std::vector<std::string> sorted(std::vector<std::string> tags) {
    std::ranges::sort(tags);
    return tags;
  }

  std::string folder_;
  std::vector<std::string> tags_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_runs_command() { return std::make_unique<RunsCommand>(); }

}  // namespace pacml::apps
