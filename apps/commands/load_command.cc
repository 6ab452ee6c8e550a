#include <iostream>
#include <string>
#include <vector>

#include "apps/bench/learner_math.h"
#include "apps/bench/load_bench.h"
#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/number_list.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class LoadCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"bench load",
            "how many actors a learner and its shards can serve",
            {{"bench load configs/quickstart.yaml --actors 1000 --rate 200",
              "a thousand actors of 200 decisions a second each, without their simulators"},
             {"bench load configs/quickstart.yaml --actors 1,10,100,300,1000,3000 --out load.json",
              "as fast as the learner takes it, and where more actors add nothing"},
             {"bench load configs/paper/apex_beta_a.yaml --actors 100,1000 --shards 1,2",
              "the same for replay shards"},
             {"bench load configs/quickstart.yaml --learner tcp://10.0.0.1:5555 --actors 500",
              "against a learner that runs already"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    options.option("--actors LIST", &actors_,
                   "how many protocol actors; several: one after another");
    options.option("--shards LIST", &shards_,
                   "how many replay shards (algorithm: apex); default: replay.shards");
    options.option("--rate R", &options_.decisions_per_second,
                   "decisions a second of each actor while it acts; 0: no limit");
    options.option("--seconds S", &options_.seconds, "measured for each, after a warm-up");
    options.option("--warm-up S", &options_.warm_up, "seconds before anything counts");
    options.option("--threads N", &threads_,
                   "threads that drive the actors (default: half of the cores)");
    options.option("--learner ADDRESS", &options_.learner,
                   "a learner that runs already; without it, one is started");
    options.option("--replay ADDRESS", &options_.replay,
                   "with --learner, a replay shard that runs already; once for each");
    options.output("--out FILE.json", &out_, "write the figures as JSON");
  }
  [[nodiscard]] int run() override {
    if (!(options_.seconds > 0)) throw UserError("--seconds: must be > 0");
    if (!(options_.warm_up >= 0)) throw UserError("--warm-up: must be at least 0");
    if (!(options_.decisions_per_second >= 0)) throw UserError("--rate: must be at least 0");
    if (threads_ && *threads_ < 1) throw UserError("--threads: must be at least 1");
    if (options_.learner.empty() && !options_.replay.empty()) {
      throw UserError("--replay: goes with --learner");
    }
    const TrainConfig config = config_.load();
    options_.config_arguments = config_.arguments();
    options_.actors = parse_numbers("--actors", actors_, 1, kMostAtOnce);
    if (!shards_.empty()) options_.shards = parse_numbers("--shards", shards_, 0, kMostShards);
    options_.threads = static_cast<std::size_t>(threads_.value_or(0));
    BenchReport report;
    run_load_bench(config, options_, report, std::cout);
    if (!out_.empty()) write_user_file(out_, report_to_json(report, learner_math()));
    return 0;
  }

 private:
  static constexpr std::size_t kMostAtOnce = 100'000;
  static constexpr std::size_t kMostShards = 256;

  ConfigOptions config_;
  LoadBenchOptions options_;
  std::string actors_ = "1000";
  std::string shards_;
  std::optional<std::int64_t> threads_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_load_command() { return std::make_unique<LoadCommand>(); }

}  // namespace pacml::apps
