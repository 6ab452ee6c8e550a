#include <string>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/http_options.h"
#include "apps/roles/actor_role.h"
#include "common/result.h"

namespace pacml::apps {
namespace {

class ActorCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"actor",
            "one actor of a run: acts, sends experience, receives weights",
            {{"actor configs/paper/beta_a.yaml --learner tcp://10.0.0.1:5555 --id 3",
              "joins the learner on another host as actor 3"},
             {"actor configs/paper/apex_beta_a.yaml --learner tcp://10.0.0.1:5555 "
              "--replay tcp://10.0.0.2:5560 --id 3",
              "the same where transitions go to a replay shard"},
             {"actor configs/paper/beta_a.yaml --learner tcp://10.0.0.1:5555 --keys keys",
              "over a network that others use, too"}}};
  }
  void declare(Options& options) override {
    config_.declare(options);
    config_.declare_keys(options);
    options.required_option("--learner ADDRESS", &learners_,
                            "where the learner is, e.g. tcp://HOST:5555; of several learners, once "
                            "for each, in the order of the replicas");
    options.option("--replay ADDRESS", &replay_,
                   "a replay shard (algorithm: apex); once for each, in the order of the shards");
    options.option("--id N", &id_, "number of this actor, unique within the run");
    options.option("--run-id NAME", &run_id_, "refuse to join another run than this");
    http_.declare(options);
    options.option("--log-level LEVEL", &log_level_, "trace, debug, info, warn, error or off");
    options.output("--log FILE", &log_, "log there, up to 16 MiB a file, and not to standard error",
                   Writes::kLog);
  }
  [[nodiscard]] int run() override {
    if (id_ < 0 || id_ > UINT32_MAX) throw UserError("--id: must be in 0..4294967295");
    ActorRoleOptions options;
    options.learners = learners_;
    options.replay = replay_;
    options.id = static_cast<std::uint32_t>(id_);
    options.run_id = run_id_;
    options.http = http_.load();
    options.log_level = log_level_;
    options.log = log_;
    return run_actor(config_.load(), options);
  }

 private:
  ConfigOptions config_;
  HttpOptions http_;
  std::vector<std::string> learners_;
  std::vector<std::string> replay_;
  std::int64_t id_ = 0;
  std::string run_id_;
  std::string log_level_ = "info";
  std::string log_;
};

}  // namespace

std::unique_ptr<Command> make_actor_command() { return std::make_unique<ActorCommand>(); }

}  // namespace pacml::apps
