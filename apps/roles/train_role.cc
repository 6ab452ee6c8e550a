#include "apps/roles/train_role.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "apps/cli/files.h"
#include "apps/cli/words.h"
#include "apps/process/hand_over.h"
#include "apps/process/run_supervisor.h"
#include "apps/roles/identity.h"
#include "apps/roles/learner_sockets.h"
#include "apps/run/endpoints.h"
#include "apps/run/minutes_left.h"
#include "apps/run/progress_block.h"
#include "apps/run/progress_line.h"
#include "apps/run/run_directory.h"
#include "apps/run/run_news.h"
#include "apps/run/run_summary.h"
#include "common/asio.h"
#include "common/atomic_file.h"
#include "common/private_folder.h"
#include "common/repeating_timer.h"
#include "common/result.h"
#include "common/unix_socket.h"
#include "model/math_environment.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::milliseconds kLookEvery{250};  // at the metrics
constexpr std::chrono::seconds kFormerLife{10};
constexpr std::chrono::seconds kSilence{10};  // after which it is said that there is no news
constexpr const char* kLearner = "learner";

// Shards outlive their learner, which has let go of the run, while they save their tables.
// TryAgainError: for longer than the run's `patience`.
void wait_for_former_tables(const TrainRoleOptions& options) {
  const Deadline deadline = Deadline::in(options.patience);
  for (std::int64_t shard = 0; shard < options.replay_shards; ++shard) {
    const auto snapshot = RunDirectory::snapshot_file(options.run_directory, shard);
    if (!SnapshotLock::is_held(snapshot)) continue;
    std::cerr << "waits until a former replay-" << shard << " has saved its table\n";
    static_cast<void>(SnapshotLock(snapshot, deadline.at() - steady().now()));
  }
}

// One run from start to end, on the thread that runs io.
class Training {
 public:
  explicit Training(const TrainRoleOptions& options)
      : options_(options),
        run_(options.run_directory),
        bind_(bind_of(options)),
        news_(run_, std::max<Duration>(kSilence, 3 * options.news_every), steady().now()),
        display_(make_display()),
        supervisor_(
            io_,
            {.patience = options.patience,
             .silence = options.silence,
             .others_may_join = !options.bind.empty(),
             .has_checkpoint = [this] { return RunDirectory::has_checkpoint(run_); },
             .learner_hears = [this] { write_addresses(); },
             .learned_nothing =
                 [this] {
                   show_newest();  // its last words are of a moment ago
                   return news_.learned_nothing();
                 }},
            [this](const std::string& sentence) { tell(sentence); }, [this] { looks_.stop(); }),
        looks_(io_, kLookEvery, [this] { show_newest(); }) {}

  int run() {
    started_ = steady().now();
    // A copy: whoever edits the original does not edit this run.
    write_user_file(config_arguments_.front(), options_.config_text);
    if (options_.resume) recall();
    make_folders();
    for (const auto& loss : RunDirectory::take_losses(run_)) {
      std::cerr << "the run's former end: " << loss << "\n";
    }
    start_roles();
    if (bind_ && bind_->str() != options_.bind) {
      std::cerr << "further actors may join at " << bind_->str() << "\n";
    }
    looks_.start();
    io_.run();
    look_at_newest(steady().now());  // the learner's last words
    display_->finish(progress_);
    RunDirectory::note_losses(run_, supervisor_.losses());
    give_back_what_never_began();
    remove_sockets();
    remove_addresses();
    return supervisor_.exit_code([this] { return RunDirectory::has_checkpoint(run_); });
  }

 private:
  // What the run has come to already, until there is news of it.
  void recall() {
    RunFigures before = figures_of(newest_metrics(run_ / "metrics.jsonl"));
    progress_.decisions = static_cast<std::int64_t>(before.decisions.value_or(0));
    progress_.evaluation = std::move(before.evaluation);
  }

  [[nodiscard]] transport::Endpoint private_address(const std::string& name) const {
    return transport::Endpoint::parse("ipc://" + (sockets_.path() / name).string());
  }
  // Where others may join; none: nowhere.
  [[nodiscard]] static std::optional<transport::Endpoint> bind_of(const TrainRoleOptions& options) {
    if (options.bind.empty()) return std::nullopt;
    // The learner's second port, those of the shards and of further learners lie above.
    return with_chosen_port(transport::Endpoint::parse(options.bind),
                            ports_above(options.replay_shards, options.learners));
  }
  [[nodiscard]] transport::Endpoint address() const {
    return bind_.value_or(private_address(kLearner));
  }
  [[nodiscard]] transport::Endpoint learner_address(std::int64_t number) const {
    return learner_endpoint(address(), options_.replay_shards, number);
  }
  // Where the learners of this machine gather, which concerns nobody else.
  [[nodiscard]] transport::Endpoint board_address() const {
    return board_endpoint(private_address(kLearner), options_.replay_shards, options_.learners);
  }

  // A role that was killed leaves its file; ours go with their folder. Where somebody listens by
  // now, it is another run's.
  void remove_sockets() const {
    if (!bind_ || bind_->kind() != transport::Endpoint::Kind::kIpc) return;
    std::vector<transport::Endpoint> all;
    for (std::int64_t s = 0; s < options_.replay_shards; ++s) {
      all.push_back(shard_endpoint(address(), s));
    }
    for (std::int64_t k = 0; k < options_.learners; ++k) {
      all.push_back(learner_address(k));
      all.push_back(announcement_endpoint(learner_address(k)));
    }
    std::error_code ignored;
    for (const auto& endpoint : all) {
      if (look_at_socket_path(endpoint.path()) != AtSocketPath::kFree) continue;
      std::filesystem::remove(endpoint.path(), ignored);
    }
  }

  // How other hosts reach what is bound here.
  [[nodiscard]] static std::string reached_from_elsewhere(const transport::Endpoint& bound) {
    if (!bound.is_everywhere()) return bound.str();
    return "tcp://" + host_name() + ":" + bound.port();
  }
  void write_addresses() {
    if (options_.address_file.empty()) return;
    std::string lines;
    for (std::int64_t k = 0; k < options_.learners; ++k) {
      lines += "--learner\n" + reached_from_elsewhere(learner_address(k)) + "\n";
    }
    for (std::int64_t s = 0; s < options_.replay_shards; ++s) {
      lines += "--replay\n" + reached_from_elsewhere(shard_endpoint(address(), s)) + "\n";
    }
    write_user_file(options_.address_file, lines);
    addresses_ = lines;
  }
  // What we wrote, unless somebody else has written there since.
  void remove_addresses() const {
    std::error_code ignored;
    const std::filesystem::path file = options_.address_file;
    if (addresses_.empty() || !std::filesystem::is_regular_file(file, ignored)) return;
    const auto there = read_file(file);
    if (!there || *there != addresses_) return;
    const auto target = behind_links(file);
    if (target) std::filesystem::remove(*target, ignored);
  }

  [[nodiscard]] static std::string program(const char* name) {
    return program_beside_us(name).string();
  }

  // What a run that never began left there is not ours to go on from. Nothing else is touched: the
  // folder may have been somebody's before it was a run's.
  void remove_former_snapshots() const {
    for (std::int64_t shard = 0; shard < options_.replay_shards; ++shard) {
      std::error_code error;
      const auto snapshot = RunDirectory::snapshot_file(run_, shard);
      std::filesystem::remove(snapshot, error);
      if (error) {
        throw UserError("cannot remove " + snapshot.string() + ": " + error.message());
      }
    }
  }

  void make_folders() const {
    if (!options_.resume) remove_former_snapshots();
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
      start_actor(i, shards);
    }
  }

  void start_shard(std::int64_t number, const std::string& address) {
    std::error_code other;  // what is wrong besides is the shard's to tell
    if (const auto table = RunDirectory::snapshot_file(run_, number);
        options_.resume &&
        std::filesystem::status(table, other).type() == std::filesystem::file_type::not_found) {
      tell("replay-" + std::to_string(number) + " begins with an empty table: there is no " +
           table.string());
    }
    Member shard{.kind = MemberKind::kShard, .spec = {}};
    shard.spec.name = "replay-" + std::to_string(number);
    shard.spec.command = {program("pacml"), "replay"};
    append(shard.spec.command, config_arguments_);
    append(shard.spec.command, {"--bind", address, "--shard", std::to_string(number), "--snapshot",
                                RunDirectory::snapshot_file(run_, number).string()});
    log_to_file(shard.spec);
    shard.spec.signal_on_parent_death = SIGTERM;  // it still writes a snapshot
    start(std::move(shard));
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
      if (const auto left = minutes_left(options_.minutes, started_, steady().now())) {
        append(spec.command, {"--minutes", std::to_string(*left)});
      }
    };
    Member learner{.kind = MemberKind::kLearner, .spec = {}};
    learner.spec.name = kLearner;
    complete(learner.spec, options_.resume);
    learner.spec.signal_on_parent_death = SIGTERM;  // it still writes a checkpoint
    learner.before_restart = [this, complete](ChildSpec& spec, bool /*has_lived*/) {
      complete(spec, options_.resume || RunDirectory::resume_or_clear(run_));
    };
    start(std::move(learner));
  }

  void start(Member member) {
    member.spec.life_line = LifeLineKind::kDescriptor;
    supervisor_.start(std::move(member));
  }

  // One of several learners; it has its state from the leader, and ends with it.
  void start_follower(std::int64_t number, const std::vector<std::string>& shards) {
    Member learner{.kind = MemberKind::kFollower, .spec = {}};
    learner.spec.name = "learner-" + std::to_string(number);
    learner.spec.command = {program("pacml-learner"), "learner"};
    append(learner.spec.command, config_arguments_);
    append(learner.spec.command,
           {"--run", options_.run_directory, "--bind", learner_address(number).str(), "--replica",
            std::to_string(number), "--leader", board_address().str()});
    for (const auto& shard : shards) append(learner.spec.command, {"--replay", shard});
    start(std::move(learner));
  }

  // A learner that ended before its first checkpoint, by a signal that it did not listen to yet,
  // say, has left a folder that holds a run and nothing to go on from.
  void give_back_what_never_began() const {
    if (options_.resume) return;
    try {
      static_cast<void>(RunDirectory::resume_or_clear(run_));
    } catch (const std::exception&) {  // it stays as it is; --continue tells why
    }
  }

  void start_actor(std::int64_t number, const std::vector<std::string>& shards) {
    Member actor{.kind = MemberKind::kActor, .spec = {}};
    actor.spec.name = "actor-" + std::to_string(number);
    actor.spec.command = {program("pacml"), "actor"};
    append(actor.spec.command, config_arguments_);
    append(actor.spec.command, {"--id", std::to_string(number)});
    for (std::int64_t k = 0; k < options_.learners; ++k) {
      append(actor.spec.command, {"--learner", reached_from_here(learner_address(k)).str()});
    }
    for (const auto& shard : shards) append(actor.spec.command, {"--replay", shard});
    log_to_file(actor.spec);
    start(std::move(actor));
  }

  // The log's length is bounded by the role; what else it says, such as last words, goes to the
  // same file, or to the one that it was before it became too long.
  void log_to_file(ChildSpec& spec) const {
    spec.log = run_ / "logs" / (spec.name + ".log");
    append(spec.command, {"--log", spec.log.string()});
  }

  void tell(const std::string& sentence) {
    display_->interrupt();
    std::cerr << sentence << "\n";
  }

  // A block that is rewritten on a terminal, lines elsewhere.
  static std::unique_ptr<ProgressDisplay> make_display() {
    if (auto terminal = terminal_of_stdout()) {
      return std::make_unique<ProgressBlock>(std::cout, *std::move(terminal));
    }
    return std::make_unique<ProgressLine>(std::cout);
  }

  void look_at_newest(TimePoint now) {
    static_cast<void>(news_.look(now, progress_));
    progress_.run = options_.run_directory;
    progress_.elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
    if (options_.minutes) {
      progress_.time_limit =
          std::chrono::duration_cast<std::chrono::seconds>(in_seconds(*options_.minutes * 60));
    }
    progress_.decision_limit = options_.decisions;
  }

  void show_newest() {
    const auto now = steady().now();
    look_at_newest(now);
    display_->update(progress_, now);
  }

  TrainRoleOptions options_;
  std::filesystem::path run_;
  std::optional<transport::Endpoint> bind_;
  PrivateFolder sockets_{"pacml"};  // unless they are bound elsewhere
  std::vector<std::string> config_arguments_{(sockets_.path() / "config.yaml").string()};
  RunNews news_;
  std::unique_ptr<ProgressDisplay> display_;
  TrainProgress progress_;
  std::string addresses_;  // as the address file has them; empty: not written
  boost::asio::io_context io_;
  RunSupervisor supervisor_;
  RepeatingTimer looks_;
  TimePoint started_;
};

}  // namespace

int run_training(const TrainRoleOptions& options) {
  // The learner would say the same, but by then actors would be running.
  if (options.resume) {
    // A learner that lost its supervisor still writes a checkpoint. Whoever holds the run for
    // longer is training in it: that is said before anything is begun.
    static_cast<void>(RunLock(RunDirectory::open(options.run_directory), kFormerLife));
  } else {
    RunDirectory::refuse_existing(options.run_directory);
  }
  // Before signals are caught: nothing is begun yet, and who presses Ctrl-C need not wait.
  wait_for_former_tables(options);
  if (!options.resume) RunDirectory::refuse_existing(options.run_directory);  // still
  // For the learner, which would otherwise have to start twice.
  model::set_single_threaded_math();
  return Training(options).run();
}

}  // namespace pacml::apps
