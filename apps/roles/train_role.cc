#include "apps/roles/train_role.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ratio>
#include <string_view>

#include "apps/cli/files.h"
#include "apps/process/hand_over.h"
#include "apps/process/supervisor.h"
#include "apps/roles/endpoints.h"
#include "apps/run/progress_line.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_news.h"
#include "common/asio.h"
#include "common/private_folder.h"
#include "common/result.h"
#include "common/signals.h"
#include "learner/checkpoint.h"
#include "model/math_environment.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::milliseconds kPoll{250};         // between looks at the metrics
constexpr std::chrono::seconds kSilence{10};            // after which it is said that there is none
constexpr std::chrono::milliseconds kPatience{20'000};  // for a role to stop by itself
constexpr const char* kLearner = "learner";
constexpr int kMostLearnerDeaths = 5;  // in a row, each within seconds: it is no accident
// Everybody waits for a learner or a shard that died.
constexpr std::chrono::milliseconds kFirstWait{50};

// One run from start to end, on the thread that runs io.
class Training {
 public:
  explicit Training(const TrainRoleOptions& options)
      : options_(options),
        run_(options.run_directory),
        news_(run_, std::max<Duration>(kSilence, 3 * options.news_every), steady().now()),
        line_(std::cout, terminal_width_of_stdout()),
        signals_(io_, {.stop = [this](int) { stop_or_force(); },
                       .checkpoint = [this] { ask_for_checkpoint(); }}),
        supervisor_(io_, [this](const ChildReport& report) { observe(report); }),
        timer_(io_) {}

  int run() {
    started_ = std::chrono::steady_clock::now();
    // A copy: whoever edits the original does not edit this run.
    write_user_file(config_arguments_.front(), options_.config_text);
    make_folders();
    start_roles();
    poll();
    io_.run();
    line_.finish(progress_);
    remove_sockets();
    return exit_code_;
  }

 private:
  [[nodiscard]] transport::Endpoint private_address(const std::string& name) const {
    return transport::Endpoint::parse("ipc://" + (sockets_.path() / name).string());
  }
  [[nodiscard]] transport::Endpoint address() const {
    return options_.bind.empty() ? private_address(kLearner)
                                 : transport::Endpoint::parse(options_.bind);
  }
  // Where learner k >= 1 talks to its actors, and where the leader gathers the other learners.
  [[nodiscard]] transport::Endpoint follower_address(std::int64_t k) const {
    return private_address("learner-" + std::to_string(k));
  }
  [[nodiscard]] transport::Endpoint board_address() const { return private_address("board"); }

  // A role that was killed leaves its file; ours go with their folder.
  void remove_sockets() const {
    if (options_.bind.empty() || address().kind() != transport::Endpoint::Kind::kIpc) return;
    std::vector<transport::Endpoint> all = {address(), announcement_endpoint(address())};
    for (std::int64_t s = 0; s < options_.replay_shards; ++s) {
      all.push_back(shard_endpoint(address(), s));
    }
    std::error_code ignored;
    for (const auto& endpoint : all) std::filesystem::remove(endpoint.path(), ignored);
  }

  [[nodiscard]] static std::string program(const char* name) {
    return program_beside_us(name).string();
  }

  void make_folders() const {
    // What a run that never began left there is not ours to go on from.
    std::error_code ignored;
    if (!options_.resume) std::filesystem::remove_all(run_ / "replay", ignored);
    for (const char* name : {"logs", "replay"}) {
      if (name == std::string_view("replay") && options_.replay_shards == 0) continue;
      std::error_code error;
      std::filesystem::create_directories(run_ / name, error);
      if (error) {
        throw UserError("cannot create the folder " + (run_ / name).string() + ": " +
                        error.message());
      }
    }
  }

  // What stops first has the highest stage: actors, the learner, and then the shards, so that a
  // shard's last snapshot has all that was inserted.
  enum Stage { kShards = 0, kLearners = 1, kActors = 2 };

  void start_roles() {
    std::vector<std::string> shards;
    for (std::int64_t s = 0; s < options_.replay_shards; ++s) {
      const auto bound = shard_endpoint(address(), s);
      shards.push_back(reached_from_here(bound).str());
      start_shard(s, bound.str());
    }
    start_learner(address().str(), shards);
    for (std::int64_t k = 1; k < options_.learners; ++k) start_follower(k, shards);
    for (std::int64_t i = 0; i < options_.actors; ++i) {
      start_actor(i, reached_from_here(address()).str(), shards);
    }
  }

  void start_shard(std::int64_t number, const std::string& address) {
    SupervisedChild shard;
    shard.spec.name = "replay-" + std::to_string(number);
    shard.spec.command = {program("pacml"), "replay"};
    append(shard.spec.command, config_arguments_);
    append(shard.spec.command, {"--bind", address, "--shard", std::to_string(number), "--snapshot",
                                (run_ / "replay" / ("shard-" + std::to_string(number))).string()});
    log_to_file(shard.spec);
    shard.spec.signal_on_parent_death = SIGTERM;  // it still writes a snapshot
    shard.stage = kShards;
    shard.restart = Backoff{.first = kFirstWait};
    shard.may_finish = false;  // whoever ends it, its actors wait for it
    supervisor_.start(std::move(shard));
  }

  void start_learner(const std::string& address, const std::vector<std::string>& shards) {
    std::vector<std::string> command = {program("pacml-learner"), "learner"};
    append(command, config_arguments_);
    append(command, {"--run", options_.run_directory, "--bind", address});
    for (const auto& shard : shards) append(command, {"--replay", shard});
    append(command, options_.learner_arguments);
    if (options_.learners > 1) append(command, {"--leader", board_address().str()});
    if (options_.decisions) append(command, {"--decisions", std::to_string(*options_.decisions)});
    // Each life has the time that is left.
    const auto complete = [this, command](ChildSpec& spec, bool resume) {
      spec.command = command;
      if (resume) spec.command.emplace_back("--resume");
      if (!options_.minutes) return;
      const std::chrono::duration<double, std::ratio<60>> gone =
          std::chrono::steady_clock::now() - started_;
      const double left = std::max(0.001, *options_.minutes - gone.count());
      append(spec.command, {"--minutes", std::to_string(left)});
    };
    SupervisedChild learner;
    learner.spec.name = kLearner;
    complete(learner.spec, options_.resume);
    learner.spec.signal_on_parent_death = SIGTERM;  // it still writes a checkpoint
    learner.stage = kLearners;
    learner.restart = Backoff{.first = kFirstWait, .most_deaths = kMostLearnerDeaths};
    learner.before_restart = [this, complete](ChildSpec& spec) {
      complete(spec, options_.resume || RunDirectory::resume_or_clear(run_));
    };
    supervisor_.start(std::move(learner));
  }

  // One of several learners; it has its state from the leader, and ends with it.
  void start_follower(std::int64_t number, const std::vector<std::string>& shards) {
    SupervisedChild learner;
    learner.spec.name = "learner-" + std::to_string(number);
    learner.spec.command = {program("pacml-learner"), "learner"};
    append(learner.spec.command, config_arguments_);
    append(learner.spec.command,
           {"--run", options_.run_directory, "--bind", follower_address(number).str(), "--replica",
            std::to_string(number), "--leader", board_address().str()});
    for (const auto& shard : shards) append(learner.spec.command, {"--replay", shard});
    learner.stage = kLearners;
    learner.restart = Backoff{};
    supervisor_.start(std::move(learner));
  }

  [[nodiscard]] bool has_checkpoint() const {
    return !learner::CheckpointFolder(run_ / "checkpoints", 1).list().empty();
  }

  void start_actor(std::int64_t number, const std::string& address,
                   const std::vector<std::string>& shards) {
    SupervisedChild actor;
    actor.spec.name = "actor-" + std::to_string(number);
    actor.spec.command = {program("pacml"), "actor"};
    append(actor.spec.command, config_arguments_);
    append(actor.spec.command, {"--learner", address, "--id", std::to_string(number)});
    for (std::int64_t k = 1; k < options_.learners; ++k) {
      append(actor.spec.command, {"--learner", follower_address(k).str()});
    }
    for (const auto& shard : shards) append(actor.spec.command, {"--replay", shard});
    log_to_file(actor.spec);
    actor.stage = kActors;
    actor.restart = Backoff{};
    supervisor_.start(std::move(actor));
  }

  // The log's length is bounded by the role; what else it says, such as last words, goes to the
  // same file, or to the one that it was before it became too long.
  void log_to_file(ChildSpec& spec) const {
    spec.log = run_ / "logs" / (spec.name + ".log");
    append(spec.command, {"--log", spec.log.string()});
  }

  static void append(std::vector<std::string>& command, const std::vector<std::string>& arguments) {
    command.insert(command.end(), arguments.begin(), arguments.end());
  }

  void observe(const ChildReport& report) {
    const bool is_learner = report.name == kLearner;
    if (report.kind == ChildReport::Kind::kRestarting) {
      if (is_learner) learner_is_up_ = false;
      line_.interrupt();
      std::cerr << report.name << " " << describe(report.exit) << "; starting it again"
                << (is_learner && has_checkpoint() ? " from its last checkpoint" : "") << " in "
                << report.delay.count() << " ms\n";
    }
    if (report.kind != ChildReport::Kind::kEnded) return;
    if (is_learner) {
      // Stopped before it could even listen to signals: it had nothing to lose.
      if (stopping_ && report.exit.signal == SIGTERM) return;
      exit_code_ = report.exit.shell_code();
      if (report.exit.signal != 0) {
        line_.interrupt();
        std::cerr << "the learner " << describe(report.exit)
                  << "; --resume goes on from its last checkpoint\n";
      }
      stop();
    } else if (stopping_ && report.exit.code != 0 && report.name.starts_with("replay-")) {
      // Its last snapshot, without which the run cannot go on where it was.
      line_.interrupt();
      std::cerr << report.name << " " << describe(report.exit) << "; see "
                << (run_ / "logs" / (report.name + ".log")).string() << "\n";
      if (exit_code_ == 0) exit_code_ = report.exit.code;
    } else if (!report.exit.clean() && !stopping_) {
      line_.interrupt();
      std::cerr << report.name << " " << describe(report.exit) << "; see "
                << (run_ / "logs" / (report.name + ".log")).string() << "\n";
      if (report.name.starts_with("actor-")) {
        // Others may join where they can.
        if (++actors_lost_ < options_.actors || !options_.bind.empty()) return;
        std::cerr << "no actor is left: stopping\n";
      } else if (report.name.starts_with("learner-")) {
        std::cerr << "going on with fewer learners\n";
        return;
      } else {
        // What its actors have would wait for ever.
        std::cerr << "a replay shard is lost for good: stopping\n";
      }
      exit_code_ = report.exit.shell_code();
      failed_ = true;
      stop();
    }
  }

  // A second signal means that nobody wants to wait.
  void stop_or_force() {
    if (stopping_) return supervisor_.stop({}, {});
    stop();
  }

  // Before its first line of metrics the learner may not listen to signals yet, which would end it:
  // the request waits.
  void ask_for_checkpoint() {
    checkpoint_wanted_ = !learner_is_up_;
    if (learner_is_up_) supervisor_.send(kLearner, SIGUSR1);
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    // Actors go first, so that the learner's last checkpoint and evaluation have the machine.
    const int code_of_failure = exit_code_;
    supervisor_.stop(kPatience, [this, code_of_failure] {
      if (failed_) exit_code_ = code_of_failure;
      timer_.cancel();
      signals_.cancel();
    });
  }

  void poll() {
    show_newest();
    timer_.expires_after(kPoll);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) poll();
    });
  }

  void show_newest() {
    const auto now = steady().now();
    if (news_.look(now, progress_)) {
      learner_is_up_ = true;
      if (checkpoint_wanted_) ask_for_checkpoint();
    }
    progress_.elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
    if (options_.minutes) {
      progress_.time_limit =
          std::chrono::duration_cast<std::chrono::seconds>(in_seconds(*options_.minutes * 60));
    }
    progress_.decision_limit = options_.decisions;
    line_.update(progress_, now);
  }

  TrainRoleOptions options_;
  std::filesystem::path run_;
  PrivateFolder sockets_{"pacml"};  // unless they are bound elsewhere
  std::vector<std::string> config_arguments_{(sockets_.path() / "config.yaml").string()};
  RunNews news_;
  ProgressLine line_;
  TrainProgress progress_;
  boost::asio::io_context io_;
  Signals signals_;
  Supervisor supervisor_;
  boost::asio::steady_timer timer_;
  TimePoint started_;
  std::int64_t actors_lost_ = 0;
  bool learner_is_up_ = false;
  bool checkpoint_wanted_ = false;
  bool stopping_ = false;
  bool failed_ = false;
  int exit_code_ = 0;
};

}  // namespace

int run_training(const TrainRoleOptions& options) {
  // The learner would say the same, but by then actors would be running.
  if (options.resume) {
    static_cast<void>(RunDirectory::open(options.run_directory));
  } else {
    RunDirectory::refuse_existing(options.run_directory);
  }
  // For the learner, which would otherwise have to start twice.
  model::set_single_threaded_math();
  return Training(options).run();
}

}  // namespace pacml::apps
