#include <algorithm>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/work_progress.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/evaluation/eval_json.h"
#include "apps/evaluation/eval_table.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/policy_list.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class EvalCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"eval",
            "compare policies on the same episodes, none of which training has seen",
            {{"eval configs/paper/beta_a.yaml --policy para_max,constant:4,runs/a --seeds 10",
              "two baselines and a trained policy"},
             {"eval configs/paper/beta_a.yaml --out results.json",
              "every baseline; the figures also as JSON"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    options.option(
        "--policy NAME|RUN_DIR[,...]", &policies_,
        "policies by name, run folders, or \"baselines\" for all of them; +search[:K=64,H=12,...] "
        "behind one looks ahead with it; may be repeated (default: baselines)");
    options.option("--seeds N", &seeds_, "episodes of each policy");
    options.option("--first-seed K", &first_seed_, "number of the first episode");
    options.option("--threads N", &threads_, "default: one per core");
    options.option("--out FILE.json", &out_, "write every figure as JSON");
  }
  [[nodiscard]] int run() override {
    if (seeds_ < 1 || seeds_ > kMostSeeds) {
      throw UserError("--seeds: must be in 1.." + std::to_string(kMostSeeds));
    }
    if (first_seed_ < 0 || first_seed_ > kHighestSeed) {
      throw UserError("--first-seed: must be in 0.." + std::to_string(kHighestSeed));
    }
    if (threads_ < 0 || threads_ > kMostThreads) {
      throw UserError("--threads: must be in 0.." + std::to_string(kMostThreads) +
                      " (0: one per core)");
    }
    if (!out_.empty()) check_writable(out_);  // not after all the work
    const TrainConfig config = config_.load();
    const env::TaskPtr task = config.env.make();
    const int threads = threads_ > 0
                            ? static_cast<int>(threads_)
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const Seed run{static_cast<std::uint64_t>(config.seed)};
    const auto policies = name_policies(split_names(policies_, *task), task, run, threads);
    const auto seeds = evaluation_seeds(run, seeds_, first_seed_);
    const EvalResult result = [&] {
      WorkProgress progress("episodes");
      return evaluate(*task, policies, seeds, threads, {.stop = {}, .progress = progress.teller()});
    }();
    std::cout << format_table(result);
    if (!out_.empty()) write_user_file(out_, to_json(result));
    return 0;
  }

 private:
  static constexpr std::int64_t kMostSeeds = 1'000'000;  // every figure of each is kept
  static constexpr std::int64_t kHighestSeed = std::int64_t{1} << 53;
  static constexpr std::int64_t kMostThreads = 1024;

  ConfigOptions config_;
  std::vector<std::string> policies_;
  std::int64_t seeds_ = 10;
  std::int64_t first_seed_ = 0;
  std::int64_t threads_ = 0;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_eval_command() { return std::make_unique<EvalCommand>(); }

}  // namespace pacml::apps
