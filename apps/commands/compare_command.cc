#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/cli/files.h"
#include "apps/cli/terminal.h"
#include "apps/cli/text_table.h"
#include "apps/cli/work_progress.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/limits.h"
#include "apps/evaluation/disagreement.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/policy_list.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "common/config/diff.h"
#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

// Whose policy that is; nullopt: no run's.
std::optional<RunDirectory> run_of(const std::string& policy) {
  const std::string name = without_suffixes(policy);
  return RunDirectory::holds_run(name) ? std::optional(RunDirectory::open(name)) : std::nullopt;
}

class CompareCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"compare",
            "on which decisions two policies differ, and what that costs",
            {{"compare runs/first best_constant", "a trained policy and a baseline"},
             {"compare runs/a runs/b --seeds 20 --out differences.json",
              "two runs, their settings included; the figures also as JSON"},
             {"compare runs/a runs/b --settings", "what the settings of two runs differ by"},
             {"compare para_max constant:4 --config configs/paper/beta_a.yaml", "two baselines"},
             {"compare para_max constant:4 --config configs/paper/beta_a.yaml --profiles DIR",
              "... on other job graphs"}}};
  }
  void declare(Options& options) override {
    options.argument("FIRST", &first_,
                     "folder of a run or name of a baseline; +search and rollout:RULE as in eval");
    options.argument("SECOND", &second_, "who is asked at every decision that FIRST takes");
    options.option("--config CONFIG", &config_.config,
                   "configuration file of the episodes (default: that of the first run named)");
    config_.declare_changes(options);
    options.option("--seeds N", &seeds_, "held-out episodes");
    options.option("--first-seed K", &first_seed_, "number of the first episode");
    options.option("--horizon N", &horizon_, "decisions that each choice is followed for");
    options.option("--threads N", &threads_, "0: one per core");
    options.option("--settings", &settings_, "only what the settings of two runs differ by");
    options.output("--out FILE.json", &out_, "write every figure as JSON");
  }
  [[nodiscard]] int run() override {
    check_range("--seeds", seeds_, 1, 100'000);
    check_range("--first-seed", first_seed_, 0, kHighestEpisode);
    check_range("--horizon", horizon_, 1, 100'000);
    check_range("--threads", threads_, 0, 1024);
    if (settings_ && plays_otherwise()) {
      throw UserError("--settings: plays no episodes, and goes with --out alone");
    }
    const auto first = run_of(first_);
    const auto second = run_of(second_);
    nlohmann::ordered_json document = nlohmann::ordered_json::object();
    if (first && second) {
      const auto differences = settings_of(*first, *second);
      const auto task = std::ranges::find(differences, "env.task", &ConfigDifference::key);
      if (task != differences.end() && !settings_) {
        throw UserError(first_ + " is about " + task->here + " and " + second_ + " about " +
                        task->there + ": no decision is both's; --settings tells how they differ");
      }
      std::cout << settings_text(differences);
      document["settings"] = settings_json(differences);
    } else if (settings_) {
      throw UserError("--settings needs two runs: " + (first ? second_ : first_) +
                      " is no folder of one");
    }
    if (!settings_) {
      const Disagreement found = compare(first ? first : second);
      std::cout << to_text(found);
      document.update(to_json(found));
    }
    if (!out_.empty()) write_user_file(out_, json_text(document, 2) + "\n");
    return 0;
  }

 private:
  [[nodiscard]] bool plays_otherwise() const {
    const CompareCommand usual;
    return !config_.config.empty() || !config_.overrides.empty() || !config_.profiles.empty() ||
           seeds_ != usual.seeds_ || first_seed_ != usual.first_seed_ ||
           horizon_ != usual.horizon_ || threads_ != usual.threads_;
  }

  [[nodiscard]] Disagreement compare(const std::optional<RunDirectory>& run) const {
    ConfigOptions options = config_;
    if (options.config.empty() && run) options.config = run->config_file().string();
    if (options.config.empty()) {
      throw UserError("neither " + first_ + " nor " + second_ +
                      " is the folder of a run: --config says in which episodes they are compared");
    }
    const TrainConfig config = options.load();
    const env::TaskPtr task = config.env.make();
    const Seed seed{static_cast<std::uint64_t>(config.seed)};
    const int threads = threads_or_cores(threads_);
    const auto policies = name_policies({first_, second_}, task, seed, threads);
    WorkProgress progress("episodes");
    return find_disagreement(*task, policies[0], policies[1],
                             evaluation_seeds(seed, seeds_, first_seed_), first_seed_, horizon_,
                             threads, {.stop = {}, .progress = progress.teller()});
  }

  static std::vector<ConfigDifference> settings_of(const RunDirectory& first,
                                                   const RunDirectory& second) {
    return compare_configs(read_user_file(first.config_file()),
                           read_user_file(second.config_file()));
  }

  [[nodiscard]] std::string settings_text(const std::vector<ConfigDifference>& differences) const {
    if (differences.empty()) return "their settings are the same\n\n";
    std::vector<std::vector<std::string>> rows{{"setting", first_, second_}};
    for (const auto& difference : differences) {
      rows.push_back({difference.key, difference.here, difference.there});
    }
    return align_columns(rows, columns_of_stdout()) + "\n";
  }

  static nlohmann::ordered_json settings_json(const std::vector<ConfigDifference>& differences) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& difference : differences) {
      list.push_back(
          {{"setting", difference.key}, {"first", difference.here}, {"second", difference.there}});
    }
    return list;
  }

  std::string first_;
  std::string second_;
  ConfigOptions config_;
  std::int64_t seeds_ = 5;
  std::int64_t first_seed_ = 0;
  std::int64_t horizon_ = 25;
  std::int64_t threads_ = 0;
  bool settings_ = false;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace pacml::apps
