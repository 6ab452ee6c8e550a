#include "apps/commands/learner_command.h"

#include <iostream>
#include <string>
#include <utility>

#include "apps/commands/config_options.h"
#include "apps/commands/http_options.h"
#include "apps/commands/limits.h"
#include "apps/run/run_directory.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class LearnerCommand final : public Command {
 public:
  LearnerCommand(NetworkFactory make_network, ReplicaConnector connect)
      : make_network_(std::move(make_network)), connect_(std::move(connect)) {}
  [[nodiscard]] CommandText text() const override {
    return {"learner",
            "the learner of a run: learns from what actors send, broadcasts the weights",
            {{"learner configs/paper/beta_a.yaml --run runs/a --bind tcp://127.0.0.1:5555",
              "waits for actors on this machine"},
             {"learner configs/paper/beta_a.yaml --run runs/a --bind 'tcp://*:5555' --keys keys",
              "waits for actors on any host that has a key"},
             {"learner configs/paper/beta_a.yaml --run runs/a --http 0.0.0.0:9100 "
              "--http-token-file token",
              "shows its status and metrics to other hosts, who know the token"},
             {"learner --run runs/a --resume", "goes on from the last checkpoint"},
             {"learner configs/paper/beta_a.yaml --set learner.replicas=2 --run runs/a --replica 1 "
              "--leader tcp://127.0.0.1:5600 --bind tcp://127.0.0.1:5557",
              "the second of two learners that take each update together"}}};
  }
  void declare(Options& options) override {
    config_.declare_or_resume(options);
    config_.declare_keys(options);
    options.required_option("--run DIR", &options_.run_directory, "folder of the run");
    options.option("--bind ADDRESS", &options_.bind,
                   "where actors connect; weights are announced at "
                   "the next port");
    options.option("--replay ADDRESS", &options_.replay,
                   "a replay shard (algorithm: apex); once for each, in the order of the shards");
    options.option("--replica K", &options_.several.replica,
                   "number of this learner among learner.replicas; 0 leads");
    options.option("--leader ADDRESS", &options_.several.leader,
                   "where replica 0 gathers the others: it binds, they connect");
    options.option("--all-reduce-host HOST", &options_.several.all_reduce_host,
                   "where the other replicas reach this one; not encrypted");
    options.option("--resume", &options_.resume, "go on from the run's last checkpoint");
    options.option("--continue", &go_on_,
                   "begin the run, or go on where it has a checkpoint: for what starts us again");
    options.option("--minutes M", &options_.minutes, "stop after M minutes");
    options.option("--decisions N", &options_.decisions, "stop after N decisions of the run");
    options.option("--in-process-actor", &in_process_actor_,
                   "one process, one thread, reproducible bit for bit; no actors join");
    http_.declare(options, true);
    options.option("--log-level LEVEL", &options_.log_level,
                   "trace, debug, info, warn, error or off");
  }
  [[nodiscard]] int run() override {
    check_limits(options_.minutes, options_.decisions);
    if (in_process_actor_) check_alone();
    options_.http = http_.load();
    if (options_.several.replica > 0) {
      options_.resume = false;  // its state is the leader's
    } else if (go_on_) {
      options_.resume = options_.resume || RunDirectory::has_checkpoint(options_.run_directory);
    }
    config_.settle(options_.resume, options_.run_directory);
    const TrainConfig config = options_.resume ? resumed() : config_.load();
    if (go_on_ && !options_.resume && options_.several.replica == 0) {
      RunDirectory::clear_what_never_began(options_.run_directory);
    }
    if (!in_process_actor_) return run_learner(config, options_, make_network_, connect_);
    if (config.learner.replicas > 1) {
      throw UserError("learner.replicas: a reproducible run has one learner, not " +
                      std::to_string(config.learner.replicas));
    }
    return run_deterministic_learner(config, options_, make_network_);
  }

 private:
  // UserError: what needs others is asked of one process.
  void check_alone() const {
    const auto& several = options_.several;
    for (const auto& [name, given] :
         {std::pair{"--bind", options_.bind != LearnerRoleOptions{}.bind},
          std::pair{"--replay", !options_.replay.empty()},
          std::pair{"--replica", several.replica != 0},
          std::pair{"--leader", !several.leader.empty()},
          std::pair{"--all-reduce-host",
                    several.all_reduce_host != ReplicaOptions{}.all_reduce_host}}) {
      if (!given) continue;
      throw UserError(
          std::string("--in-process-actor is one process, which nobody joins: without ") + name);
    }
  }
  [[nodiscard]] TrainConfig resumed() const {
    const auto run = RunDirectory::open(options_.run_directory);
    auto [config, changes] = config_.resume(run);
    check_inputs(run, agreement_of(config, *config.env.make()));
    for (const std::string& change : changes) std::cerr << change << "\n";
    return config;
  }

  NetworkFactory make_network_;
  ReplicaConnector connect_;
  ConfigOptions config_;
  HttpOptions http_;
  LearnerRoleOptions options_;
  bool go_on_ = false;
  bool in_process_actor_ = false;
};

}  // namespace

std::unique_ptr<Command> make_learner_command(NetworkFactory make_network,
                                              ReplicaConnector connect) {
  return std::make_unique<LearnerCommand>(std::move(make_network), std::move(connect));
}

}  // namespace pacml::apps
