#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/terminal.h"
#include "apps/cli/version.h"
#include "apps/cli/work_progress.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/limits.h"
#include "apps/evaluation/eval_json.h"
#include "apps/evaluation/eval_table.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/policy_list.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

// What the task's policies that need no training do, a line each.
void print_baselines(const env::Task& task) {
  auto baselines = task.baselines();
  baselines.push_back(
      {"rollout:RULE",
       "one of these that looks ahead, as RULE+search does, where futures can be drawn",
       false,
       {}});
  std::size_t widest = 0;
  for (const env::Baseline& baseline : baselines) widest = std::max(widest, baseline.name.size());
  for (const env::Baseline& baseline : baselines) {
    const std::string gap(widest + 2 - baseline.name.size(), ' ');
    std::cout << baseline.name << gap << baseline.description << "\n";
  }
}

// What the intervals of drawn episodes are about where they draw from a list.
void tell_of_problems(const env::Task& task) {
  const std::size_t problems = num_problems(task).value_or(0);
  if (problems == 0) return;
  std::cerr << "every episode draws one of " << problems
            << " problems, from which training with these settings draws too: the intervals say "
               "nothing of others\n";
}

class EvalCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"eval",
            "compare policies on the same episodes, of other seeds than training's",
            {{"eval configs/paper/beta_a.yaml --policy para_max,constant:4,runs/a --seeds 10",
              "two baselines and a trained policy"},
             {"eval configs/paper/beta_a.yaml --out results.json",
              "every baseline; the figures also as JSON"},
             {"eval configs/paper/beta_a.yaml --list", "what the baselines of this task do"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    options.option(
        "--policy NAME|RUN_DIR[,...]", &policies_,
        "policies by name, run folders, exported .safetensors files, a folder of several runs "
        "(trainings of one method), or \"baselines\" for all of them; +sample behind a run draws "
        "its actions as in "
        "training, +search[:K=64,H=12,...] looks ahead with it or with a rule, as "
        "rollout:RULE does without settings, +refine[:N] searches on from what it came "
        "to, with N simulations (device_placement); may be repeated (default: baselines)");
    options.option("--seeds N", &seeds_, "episodes of each policy (default 10)");
    options.option("--first-seed K", &first_seed_, "number of the first episode");
    options.option("--problems", &problems_,
                   "instead of episodes that draw one: each of the task's problems once");
    options.option("--list", &list_,
                   "tell what the task's policies that need no training do, and evaluate none");
    options.option("--threads N", &threads_, "0: one per core");
    options.output("--out FILE.json", &out_, "write every figure as JSON");
  }
  [[nodiscard]] int run() override {
    if (problems_ && (seeds_ || first_seed_ != 0)) {
      throw UserError("--problems: takes each problem once, and no --seeds or --first-seed");
    }
    if (list_ && (problems_ || seeds_ || first_seed_ != 0 || threads_ != 0 || !policies_.empty() ||
                  !out_.empty())) {
      throw UserError("--list: evaluates nothing, and goes with no other option");
    }
    const std::int64_t seeds = seeds_.value_or(kSeeds);
    check_range("--seeds", seeds, 1, kMostSeeds);
    check_range("--first-seed", first_seed_, 0, kHighestEpisode);
    if (threads_ < 0 || threads_ > kMostThreads) {
      throw UserError("--threads: must be in 0.." + std::to_string(kMostThreads) +
                      " (0: one per core)");
    }
    const TrainConfig config = config_.load();
    const env::TaskPtr task = config.env.make();
    if (list_) {
      print_baselines(*task);
      return 0;
    }
    const int threads = threads_or_cores(threads_);
    const Seed run{static_cast<std::uint64_t>(config.seed)};
    const auto policies = [&] {
      WorkProgress progress("tuning episodes");
      return list_policies(policies_, task, run, threads,
                           {.stop = {}, .progress = progress.teller()});
    }();
    const EvalResult result = [&] {
      WorkProgress progress("episodes");
      const EvaluationWatch watch{.stop = {}, .progress = progress.teller()};
      if (problems_) return evaluate_problems(*task, policies, run, threads, watch);
      return evaluate(*task, policies, evaluation_seeds(run, seeds, first_seed_), threads, watch);
    }();
    std::cout << format_table(result, columns_of_stdout());
    if (!problems_) tell_of_problems(*task);
    if (!out_.empty()) {
      const EvalOrigin origin{.program = version(),
                              .config = config_.config,
                              .overrides = config_.overrides,
                              .profiles = config_.profiles,
                              .seed = config.seed,
                              .first_episode = first_seed_};
      write_user_file(out_, to_json(result, origin));
    }
    return 0;
  }

 private:
  static constexpr std::int64_t kSeeds = 10;
  static constexpr std::int64_t kMostSeeds = 1'000'000;  // every figure of each is kept
  static constexpr std::int64_t kMostThreads = 1024;

  ConfigOptions config_;
  std::vector<std::string> policies_;
  std::optional<std::int64_t> seeds_;
  std::int64_t first_seed_ = 0;
  bool problems_ = false;
  bool list_ = false;
  std::int64_t threads_ = 0;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace pacml::apps
