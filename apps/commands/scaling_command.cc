#include <iostream>
#include <string>
#include <vector>

#include "apps/bench/learner_math.h"
#include "apps/bench/scaling_bench.h"
#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/number_list.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class ScalingCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"bench scaling",
            "what actors that train lose against actors alone",
            {{"bench scaling configs/quickstart.yaml",
              "one actor beside its learner, against the same work without one"},
             {"bench scaling configs/quickstart.yaml --actors 1,2,4 --cpus 1,2,3,4 --out s.json",
              "several, each on a core of its own; the learner on core 0"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    options.option("--actors LIST", &actors_, "how many actors; several: one after another");
    options.option("--cpus LIST", &cpus_,
                   "CPUs that actors are pinned to, in turn (default: all but the learner's)");
    options.option("--learner-cpu N", &learner_cpu_, "CPU that the learner is pinned to");
    options.option("--seconds S", &options_.seconds, "measured of either kind in each round");
    options.option("--warm-up S", &options_.warm_up, "seconds before that");
    options.option("--rounds N", &rounds_, "how often one kind follows the other; medians count");
    options.output("--out FILE.json", &out_, "write the figures as JSON");
  }
  [[nodiscard]] int run() override {
    if (!(options_.seconds > 0)) throw UserError("--seconds: must be > 0");
    if (!(options_.warm_up >= 0)) throw UserError("--warm-up: must be at least 0");
    if (rounds_ < 1) throw UserError("--rounds: must be at least 1");
    if (learner_cpu_ < 0 || learner_cpu_ > kMostCpu) {
      throw UserError("--learner-cpu: must be in 0.." + std::to_string(kMostCpu));
    }
    const TrainConfig config = config_.load();
    options_.config_arguments = config_.arguments();
    options_.actors = parse_numbers("--actors", actors_, 1, kMostAtOnce);
    if (!cpus_.empty()) options_.cpus = parse_numbers("--cpus", cpus_, 0, kMostCpu);
    options_.learner_cpu = static_cast<std::size_t>(learner_cpu_);
    options_.rounds = static_cast<std::size_t>(rounds_);
    BenchReport report;
    run_scaling_bench(config, options_, report, std::cout);
    if (!out_.empty()) write_user_file(out_, report_to_json(report, learner_math()));
    return 0;
  }

 private:
  static constexpr std::size_t kMostAtOnce = 1'024;
  static constexpr std::int64_t kMostCpu = 1'023;

  ConfigOptions config_;
  ScalingBenchOptions options_;
  std::string actors_ = "1";
  std::string cpus_;
  std::int64_t learner_cpu_ = 0;
  std::int64_t rounds_ = 3;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_scaling_command() { return std::make_unique<ScalingCommand>(); }

}  // namespace pacml::apps
