#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/http_options.h"
#include "apps/roles/replay_role.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class ReplayCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"replay",
            "one replay shard of an Ape-X run: stores transitions, draws them by priority",
            {{"replay configs/paper/apex_beta_a.yaml --bind tcp://127.0.0.1:5560",
              "waits for actors and a learner on this machine"},
             {"replay configs/paper/apex_beta_a.yaml --shard 1 --snapshot runs/a/replay/shard-1",
              "the second shard; goes on from its snapshot where there is one"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    config_.declare_keys(options);
    options.option("--bind ADDRESS", &options_.bind, "where actors and the learner connect");
    options.option("--shard N", &shard_, "number of this shard, from 0; unique within the run");
    options.option("--snapshot FILE", &options_.snapshot,
                   "where the table is kept (see replay.snapshot_seconds); without it, nowhere");
    options.option("--run-begins", &options_.run_begins,
                   "refuse a snapshot that is there: it is a former run's");
    options.option("--run-id NAME", &options_.run_id, "refuse actors of another run than this");
    http_.declare(options);
    options.option("--log-level LEVEL", &options_.log_level,
                   "trace, debug, info, warn, error or off");
    options.output("--log FILE", &options_.log,
                   "log there, up to 16 MiB a file, and not to standard error", Writes::kLog);
  }
  [[nodiscard]] int run() override {
    const TrainConfig config = config_.load();
    if (shard_ < 0 || shard_ >= config.replay.shards) {
      throw UserError("--shard: must be in 0.." + std::to_string(config.replay.shards - 1) +
                      " (replay.shards is " + std::to_string(config.replay.shards) + ")");
    }
    if (options_.run_begins && !options_.snapshot) {
      throw UserError("--run-begins goes with --snapshot");
    }
    options_.shard = static_cast<std::uint32_t>(shard_);
    options_.http = http_.load();
    return run_replay(config, options_);
  }

 private:
  ConfigOptions config_;
  HttpOptions http_;
  ReplayRoleOptions options_;
  std::int64_t shard_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() { return std::make_unique<ReplayCommand>(); }

}  // namespace pacml::apps
