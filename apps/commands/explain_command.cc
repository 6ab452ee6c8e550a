#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/commands/limits.h"
#include "apps/evaluation/episode_recording.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/explanation.h"
#include "apps/evaluation/policy_list.h"
#include "apps/evaluation/timeline_text.h"
#include "apps/run/evaluation_figures.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_summary.h"
#include "apps/run/train_config.h"
#include "common/config/reader.h"
#include "common/json_text.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

// What the run compared itself with while it trained, or else what does best on tuning episodes.
std::string best_baseline(const RunDirectory& run, const env::TaskPtr& task, Seed seed) {
  std::string told = evaluation_of(newest_metrics(run.metrics_file())).baseline;
  if (!told.empty() && env::is_baseline(*task, told)) return told;
  const auto names = env::compared_agents(*task);
  if (names.empty()) throw UserError("the task has no baselines to compare with");
  return tuned_baseline(task, names, seed, kTuningEpisodes, threads_or_cores(0));
}

class ExplainCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {
        "explain",
        "why a policy decided as it did, and what a baseline would have come to",
        {{"explain runs/first --seed 0 --decision 40", "decision 40 of the first held-out episode"},
         {"explain runs/first --decision 40 --baseline para_min --json",
          "beside another baseline, for programs"},
         {"explain runs/first --decision 40 --chrome-trace trace.json",
          "operations and transfers, server by server, for ui.perfetto.dev"},
         {"explain runs/first --episode decisions.json", "all that it decides in an episode"},
         {"explain runs/first --episode rule.json --policy constant:8",
          "what a baseline decides in the same episode"}}};
  }
  void declare(Options& options) override {
    options.argument("RUN", &run_, "folder of a run");
    options.option("--seed S", &seed_, "number of the held-out episode, as of eval's --first-seed");
    options.option("--decision N", &decision_, "which decision of it, counted from 0");
    options.option("--baseline NAME", &baseline_,
                   "what to compare with (default: the best one, as training found)");
    options.option("--json", &json_, "for programs");
    options.output("--chrome-trace TRACE.json", &trace_,
                   "what would run where when, in Chrome's trace event format");
    options.output(
        "--episode DECISIONS.json", &episode_,
        "write the decisions of the episode (the first 2000, or 16 MiB) as JSON, and explain none");
    options.option("--policy NAME", &policy_,
                   "with --episode: a baseline that decides instead of the run's policy");
  }
  [[nodiscard]] int run() override {
    check_range("--seed", seed_, 0, kHighestEpisode);
    if (!policy_.empty() && episode_.empty()) throw UserError("--policy belongs to --episode");
    if (!episode_.empty() && (decision_ || !baseline_.empty() || json_ || !trace_.empty())) {
      throw UserError(
          "--episode writes a whole episode: --decision, --baseline, --json and --chrome-trace are "
          "for one decision");
    }
    const std::int64_t decision = decision_.value_or(0);
    if (decision < 0) throw UserError("--decision: must be at least 0");
    const auto folder = RunDirectory::open(run_);
    const auto config = read_config<TrainConfig>(ConfigSource::from_file(folder.config_file()));
    const env::TaskPtr task = config.env.make();
    const Seed run_seed{static_cast<std::uint64_t>(config.seed)};
    const auto rule = [&](const std::string& name) {
      return WatchedPolicy::of_baseline(task,
                                        baseline_meant(name, task, run_seed, threads_or_cores(0)));
    };
    WatchedPolicy policy = policy_.empty() ? WatchedPolicy::of_run(task, run_) : rule(policy_);
    std::cerr << policy.warning();
    const Seed episode = evaluation_seeds(run_seed, 1, seed_).front();
    if (!episode_.empty()) {
      write_and_tell(episode_, *record_episode(*task, policy, episode) + "\n");
      return 0;
    }
    WatchedPolicy baseline =
        rule(baseline_.empty() ? best_baseline(folder, task, run_seed) : baseline_);
    const Explanation explanation = explain(*task, policy, baseline, episode, decision);
    std::cout << (json_ ? json_text(to_json(explanation), 2) + "\n" : to_text(explanation));
    if (trace_.empty()) return 0;
    if (!explanation.timeline) {
      throw UserError("--chrome-trace: nothing runs after decision " + std::to_string(decision) +
                      ": " + explanation.futures.front().first);
    }
    write_and_tell(trace_, json_text(chrome_trace(*explanation.timeline)) + "\n");
    return 0;
  }

 private:
  // Standard output may be where it goes.
  static void write_and_tell(const std::string& file, const std::string& text) {
    write_user_file(file, text);
    std::cerr << "wrote " << file << "\n";
  }

  std::string run_;
  std::int64_t seed_ = 0;
  std::optional<std::int64_t> decision_;
  std::string baseline_;
  bool json_ = false;
  std::string trace_;
  std::string episode_;
  std::string policy_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace pacml::apps
