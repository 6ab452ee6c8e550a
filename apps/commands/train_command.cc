#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/commands/config_options.h"
#include "apps/commands/http_options.h"
#include "apps/commands/limits.h"
#include "apps/http/http_server.h"
#include "apps/process/hand_over.h"
#include "apps/roles/encryption.h"
#include "apps/roles/train_role.h"
#include "apps/run/ended_schedules.h"
#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_tags.h"
#include "common/config/dump.h"
#include "common/result.h"
#include "common/scope_exit.h"
#include "env/task.h"

namespace pacml::apps {
namespace {

class TrainCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"train",
            "train a policy on this machine: learner, actors and replay, each a process",
            {{"train configs/quickstart.yaml --run runs/first --minutes 3",
              "three minutes on the built-in models"},
             {"train configs/paper/beta_a.yaml --run runs/a --actors 4 --set impala.discount=0.99",
              "four actors, one key changed"},
             {"train --run runs/a --resume --minutes 10", "goes on from the last checkpoint"},
             {"train configs/paper/beta_a.yaml --run runs/a --http 9100",
              "shows the learner at http://127.0.0.1:9100/status while it trains"}}};
  }
  void declare(Options& options) override {
    config_.declare_or_resume(options);
    config_.declare_keys(options);
    options.required_option("--run DIR", &run_directory_,
                            "folder of the run; made, never overwritten");
    options.option("--minutes M", &minutes_, "stop after M minutes");
    options.option("--decisions N", &decisions_, "stop after N decisions of the run");
    options.option("--actors K", &actors_, "actor processes (default: the configuration's)");
    options.option(
        "--bind ADDRESS", &bind_,
        "where further actors may join, e.g. tcp://*:5555 (then --actors may be 0); port "
        "*: any that is free");
    options.output("--address-file FILE", &address_file_,
                   "while the run goes on, has the words that further actors need, one a line "
                   "(goes with --bind)");
    options.option("--tag NAME", &tags_, "a word to find the run by (pacml runs); may be repeated");
    options.option("--resume", &resume_, "go on from the run's last checkpoint");
    options.option("--continue", &go_on_,
                   "begin the run, or go on where it has a checkpoint: for what starts us again");
    http_.declare(options, true);
    options.option("--deterministic", &deterministic_,
                   "one process, one thread: the same weights from run to run, bit for bit");
  }
  [[nodiscard]] int run() override {
    check_limits(minutes_, decisions_);
    check_actors(actors_, bind_.empty() ? 1 : 0);
    check_tags(tags_);
    if (!address_file_.empty() && bind_.empty()) {
      throw UserError("--address-file goes with --bind");
    }
    if (deterministic_) check_deterministic();
    // Complains before anything is started.
    if (const auto pages = http_.load()) check_listenable(*pages);
    if (go_on_) resume_ = resume_ || RunDirectory::has_checkpoint(run_directory_);
    config_.settle(resume_, run_directory_);
    // What differs in a run that goes on is for the learner to tell.
    auto [config, changes] = resume_ ? config_.resume(RunDirectory::open(run_directory_))
                                     : Resumption{config_.load(), {}};
    // How many explore is a part of what they explore. Where others may join, only the
    // configuration knows.
    if (actors_ && bind_.empty()) config.actors = *actors_;
    if (!deterministic_) check_room(config, actors_.value_or(config.actors));
    const auto task = config.env.make();  // complains before anything is started
    check_against_task(config, *task);
    if (resume_) check_inputs(RunDirectory::open(run_directory_), agreement_of(config, *task));
    check_keys(config.security);
    if (resume_) tell_of_ended_schedules(config, *task, changes);
    if (go_on_ && !resume_) RunDirectory::clear_what_never_began(run_directory_);
    if (!resume_) RunDirectory::refuse_existing(run_directory_);
    if (!address_file_.empty()) RunDirectory::refuse_file_in(run_directory_, address_file_);
    add_tags(run_directory_, tags_);
    // A run that does not begin leaves none to the next one there.
    const ScopeExit untag([this] {
      if (!is_run_there()) forget_tags(run_directory_);
    });
    if (deterministic_) hand_over_deterministic();
    TrainRoleOptions options;
    options.news_every = in_seconds(config.learner.metrics_seconds);
    options.config_text = dump_config(as_recorded(config));
    options.learner_arguments = http_.arguments();
    options.run_directory = run_directory_;
    options.minutes = minutes_;
    options.decisions = decisions_;
    options.actors = actors_.value_or(config.actors);
    if (uses_replay(config.algorithm)) options.replay_shards = config.replay.shards;
    options.bind = bind_;
    options.address_file = address_file_;
    options.learners = config.learner.replicas;
    options.resume = resume_;
    options.patience = config.supervision.stop_seconds.milliseconds();
    options.silence = config.supervision.silence_seconds.milliseconds();
    return run_training(options);
  }

 private:
  [[nodiscard]] bool is_run_there() const {
    try {
      return RunDirectory::holds_run(run_directory_);
    } catch (const std::exception&) {  // nobody can tell
      return true;
    }
  }
  void tell_of_ended_schedules(const TrainConfig& config, const env::Task& task,
                               const std::vector<std::string>& changes) const {
    const auto progress = progress_in(RunDirectory::open(run_directory_), config, task.spec());
    if (!progress) return;
    const std::string ended = ended_schedules(config, *progress, changes);
    if (!ended.empty()) std::cerr << ended << "\n";
  }
  void check_deterministic() const {
    if (minutes_ || !decisions_) {
      throw UserError(
          "--deterministic needs --decisions, and no --minutes: time is not reproducible");
    }
    if (actors_ || !bind_.empty()) {
      throw UserError("--deterministic is one process, which no actor joins: without " +
                      std::string(actors_ ? "--actors" : "--bind"));
    }
  }
  [[noreturn]] void hand_over_deterministic() const {
    std::vector<std::string> words = {"learner"};
    for (auto& word : config_.arguments()) words.push_back(word);
    words.insert(words.end(), {"--run", run_directory_, "--decisions", std::to_string(*decisions_),
                               "--in-process-actor"});
    if (resume_) words.emplace_back("--resume");
    for (auto& word : http_.arguments()) words.push_back(word);
    std::cout << "training in one process, which shows nothing while it does: "
              << (std::filesystem::path(run_directory_) / "metrics.jsonl").string()
              << " tells how far it is\n"
              << std::flush;
    hand_over("pacml-learner", words);
  }

  ConfigOptions config_;
  HttpOptions http_;
  std::string run_directory_;
  std::optional<double> minutes_;
  std::optional<std::int64_t> decisions_;
  std::optional<std::int64_t> actors_;
  std::string bind_;
  std::string address_file_;
  std::vector<std::string> tags_;
  bool resume_ = false;
  bool go_on_ = false;
  bool deterministic_ = false;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace pacml::apps
