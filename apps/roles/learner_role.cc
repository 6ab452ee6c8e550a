#include "apps/roles/learner_role.h"

#include <spdlog/spdlog.h>

#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <vector>

#include "apps/dashboard/dashboard.h"
#include "apps/http/http_server.h"
#include "apps/process/open_files.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/identity.h"
#include "apps/roles/in_process_actor.h"
#include "apps/roles/in_process_replay.h"
#include "apps/roles/learner_sockets.h"
#include "apps/roles/message_sizes.h"
#include "apps/roles/replay_source.h"
#include "apps/roles/role_threads.h"
#include "apps/roles/training_session.h"
#include "apps/roles/warm_start_phase.h"
#include "apps/run/endpoints.h"
#include "apps/run/minutes_left.h"
#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "common/clock.h"
#include "common/config/dump.h"
#include "common/exit_codes.h"
#include "common/json_text.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/scheduling.h"
#include "common/scope_exit.h"
#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "env/task.h"
#include "learner/serving/experience_server.h"
#include "learner/wanted_work.h"
#include "replay/client.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

RunDirectory open_or_create(const TrainConfig& config, const LearnerRoleOptions& options) {
  if (options.several.replica > 0) return RunDirectory::join(options.run_directory);
  return options.resume
             ? RunDirectory::open(options.run_directory)
             : RunDirectory::create(options.run_directory, dump_config(as_recorded(config)));
}

// What the run is from now on; by its one writer.
void record(const RunDirectory& run, const TrainConfig& config, const LearnerRoleOptions& options,
            const Agreement& agreement) {
  if (options.resume) {
    check_inputs(run, agreement);
    run.record(dump_config(as_recorded(config)));
  }
  record_inputs(run, agreement);
}

// A port that is in use, or keys that are broken, should be said before the run folder is made.
void check_bindable(const transport::Endpoint& endpoint, const TrainConfig& config,
                    const std::optional<transport::Encryption>& encryption) {
  transport::Context context(1, encryption);
  static_cast<void>(bind_learner(context, endpoint, config.transport));
}

// Draws ahead of the learner: connections to all shards, on one thread.
void talk_to_shards(replay::Client& client, const transport::SocketConfig& sockets,
                    const std::vector<std::string>& addresses, transport::Context& context,
                    const std::stop_token& stop) {
  std::vector<std::unique_ptr<transport::Dealer>> dealers;
  std::vector<transport::FrameClient*> links;
  for (const auto& address : addresses) {
    dealers.push_back(
        std::make_unique<transport::Dealer>(context, transport::Endpoint::parse(address), sockets,
                                            transport::Dealer::Handshakes::kWatched));
    links.push_back(dealers.back().get());
  }
  client.run(links, stop);
}

// Of a batch, what the replica draws: shares add up to the whole, and each has a transition, since
// configurations with fewer of them than replicas are refused.
std::uint32_t share_of_batch(std::int64_t batch, std::int64_t replicas, std::int64_t replica) {
  return static_cast<std::uint32_t>(batch / replicas + (replica < batch % replicas ? 1 : 0));
}

replay::ClientConfig client_config_of(const TrainConfig& config, std::int64_t replica) {
  replay::ClientConfig out;
  out.batch_size = share_of_batch(config.apex.batch_size, config.learner.replicas, replica);
  out.prefetch = static_cast<std::size_t>(config.replay.prefetch);
  out.hello_interval = in_seconds(config.patience.hello_seconds);
  out.ping_interval = in_seconds(config.patience.ping_seconds);
  out.silence = in_seconds(config.patience.silence_seconds);
  out.patience = in_seconds(config.replay.patience_seconds);
  return out;
}

// Lets `options` say what the warm start, if there is one, has found, and the time that is left.
// False: asked to stop meanwhile. Where it does not come to its end, the run has not begun.
bool warm_started(const TrainConfig& config, const RunDirectory& run,
                  const NetworkFactory& make_network, LearnerRoleOptions& options) {
  const TimePoint started = steady().now();
  try {
    auto found = run_warm_start(config, options, run, make_network);
    if (found.stopped) {
      run.abandon();
      spdlog::warn("stopped before training began");
      std::cerr << "stopped before training began: nothing is saved\n";
      return false;
    }
    options.first_weights = std::move(found.weights);
  } catch (const UserError&) {
    run.abandon();
    throw;
  }
  options.minutes = minutes_left(options.minutes, started, steady().now());
  return true;
}

// Whoever starts a learner again that failed, in whatever thread, needs its actors.
std::function<void(const std::stop_token&)> keeping_actors(
    learner::ExperienceServer& server, std::function<void(const std::stop_token&)> body) {
  return [&server, body = std::move(body)](const std::stop_token& stop) {
    try {
      body(stop);
    } catch (...) {
      server.keep_actors();
      throw;
    }
  };
}

// By chance: nothing that a process is told tells it from the one that it takes the place of.
std::uint64_t new_life() {
  std::random_device random;
  return (std::uint64_t{random()} << 32) | random();
}

std::string role_name(const LearnerRoleOptions& options) {
  const auto replica = options.several.replica;
  return replica == 0 ? "learner" : "learner-" + std::to_string(replica);
}

void log_into(const RunDirectory& run, const std::string& role, const std::string& level) {
  set_up_logging({.role = role,
                  .run_id = run.name(),
                  .level = level,
                  .file = run.log_file(role),
                  .to_stderr = false});
}

// What cannot be leaves no folder behind.
void check_options(const TrainConfig& config, const LearnerRoleOptions& options,
                   const std::optional<transport::Encryption>& encryption) {
  check_bindable(transport::Endpoint::parse(options.bind), config, encryption);
  if (options.http) check_listenable(*options.http);
  if (config.learner.replicas == 1 || options.several.replica > 0) return;
  transport::Context context(1, encryption);
  const transport::Router board(context, transport::Endpoint::parse(options.several.leader),
                                config.transport);
}

learner::ExperienceServerConfig serving_config_of(const TrainConfig& config) {
  learner::ExperienceServerConfig out;
  if (!uses_replay(config.algorithm)) {
    out.work = learner::wanted_work(update_size_of(config), config.learner);
  }
  out.max_actors = static_cast<std::size_t>(config.learner.max_actors);
  out.silence = in_seconds(config.learner.forget_seconds);
  out.max_waiting_bytes = static_cast<std::size_t>(config.learner.max_waiting_bytes);
  out.farewell = in_seconds(config.patience.farewell_seconds);
  return out;
}

// A learner and the sockets around it, from the first connection to the last.
class ServingLearner {
 public:
  // Borrows all but the encryption.
  ServingLearner(const TrainConfig& config, const LearnerRoleOptions& options,
                 const env::Task& task, const Agreement& agreement, const RunDirectory& run,
                 const std::optional<transport::Encryption>& encryption)
      : config_(config),
        options_(options),
        agreement_(agreement),
        run_(run),
        sockets_(sockets_for(config, task)),
        context_(1, encryption),
        server_(make_identity(config, task, agreement, run.name()), serving_config_of(config),
                [this] { return session_->status(); }),
        actors_(server_) {
    if (!leads()) server_.keep_actors();  // the run goes on without us
  }

  // Learns, and serves meanwhile. UserError: learning has diverged, or as the parts throw it.
  void run(const NetworkFactory& make_network, const ReplicaConnector& connect,
           LifeLine& life_line) {
    std::vector<RoleThread> threads = {
        {"serve", [this](const std::stop_token& stop) { serve(stop); }}};
    ExperienceSource source = &actors_;
    if (uses_replay(config_.algorithm)) {
      source = &draw_from_shards();
      threads.push_back({"replay", [this](const std::stop_token& stop) {
                           talk_to_shards(*client_, sockets_, options_.replay, context_, stop);
                         }});
    }
    if (config_.learner.replicas > 1) {
      wiring_.emplace(config_, options_.several, agreement_, run_.name(), context_, connect,
                      !options_.resume);
      if (auto thread = wiring_->thread()) threads.push_back(*std::move(thread));
    }
    session_.emplace(
        config_, options_, run_, make_network, source, actors_,
        ServiceFigures{
            .server = [this] { return server_.counters(); },
            .replay = [this] { return client_ ? std::optional(client_->status()) : std::nullopt; },
            .account =
                [this] {
                  const auto newest = server_.board().newest();
                  return newest ? newest->text : std::string();
                },
            .drawn = drawn_ ? &*drawn_ : nullptr},
        wiring_ ? &wiring_->replicas() : nullptr);
    threads.push_back({"learn", [this](const std::stop_token& stop) { learn(stop); }});
    use_batch_scheduling();  // all but learn(), and the threads of the network, which there are
    for (auto& [name, body] : threads) body = keeping_actors(server_, std::move(body));
    std::optional<Dashboard> dashboard;
    if (options_.http && leads()) dashboard.emplace(std::vector{run_.path()});
    run_role_threads(threads, [this] { session_->request_checkpoint(); },
                     {.http = options_.http,
                      .report = [this] { return report_of(server_.board(), "serves_weights"); },
                      .further = dashboard ? dashboard->pages() : FurtherPages{},
                      .silence = silence_of(config_),
                      .life_line = &life_line});
    if (const auto why = session_->divergence()) throw UserError(*why);
  }

 private:
  [[nodiscard]] bool leads() const { return options_.several.replica == 0; }

  learner::TransitionSource& draw_from_shards() {
    const Seed seed{static_cast<std::uint64_t>(config_.seed)};
    const auto replica = static_cast<std::uint32_t>(options_.several.replica);
    // Shards draw from the streams 0, 1, ... of this purpose; how draws are shared is the last one,
    // and of further learners those before it.
    client_.emplace(
        make_hello(wire::Role::kLearner, ActorId{replica}, agreement_, run_.name()),
        options_.replay.size(), client_config_of(config_, options_.several.replica),
        derive(seed, Purpose::kReplay, std::numeric_limits<std::uint32_t>::max() - replica));
    return drawn_.emplace(*client_, leads());
  }

  void serve(const std::stop_token& stop) {
    const LearnerSockets bound =
        bind_learner(context_, transport::Endpoint::parse(options_.bind), sockets_);
    spdlog::info("serving actors at {}", bound.router->endpoint().str());
    server_.run(*bound.router, *bound.publisher, stop);
  }

  void learn(const std::stop_token& stop) {
    use_normal_scheduling();
    const ScopeExit at_end([this] {
      if (wiring_) wiring_->disconnect();
    });
    session_->run(stop);
    if (session_->run_is_over()) server_.dismiss_actors();
  }

  const TrainConfig& config_;
  const LearnerRoleOptions& options_;
  const Agreement& agreement_;
  const RunDirectory& run_;
  const transport::SocketConfig sockets_;
  transport::Context context_;
  learner::ExperienceServer server_;
  learner::ServedActors actors_;
  std::optional<replay::Client> client_;
  std::optional<ReplaySource> drawn_;
  std::optional<ReplicaWiring> wiring_;
  std::optional<TrainingSession> session_;
};

}  // namespace

int run_learner(const TrainConfig& config, const LearnerRoleOptions& given,
                const NetworkFactory& make_network, const ReplicaConnector& connect) {
  LearnerRoleOptions options = given;
  // Before anybody hears of this life: who was heard is told to go on when it is started again.
  if (options.begins()) RunDirectory::refuse_existing(options.run_directory);
  LifeLine life_line(silence_of(config), in_seconds(config.supervision.stop_seconds));
  check_replay_addresses(config, options.replay);
  check_replica_options(config, options.several);
  options.several.life = new_life();
  const auto task = config.env.make();
  const auto encryption = encryption_of(config.security, Party::kServer);
  check_options(config, options, encryption);
  const Agreement agreement = agreement_of(config, *task);
  const auto run = open_or_create(config, options);
  std::optional<RunLock> lock;
  if (options.several.replica == 0) {
    lock.emplace(run);
    record(run, config, options, agreement);
  }
  log_into(run, role_name(options), options.log_level);
  if (!warm_started(config, run, make_network, options)) return kExitStoppedBeforeTraining;
  raise_open_file_limit();  // each actor takes two connections
  ServingLearner(config, options, *task, agreement, run, encryption)
      .run(make_network, connect, life_line);
  return 0;
}

int run_deterministic_learner(const TrainConfig& config, const LearnerRoleOptions& given,
                              const NetworkFactory& make_network) {
  LearnerRoleOptions options = given;
  // These make the task: what cannot be leaves no folder behind.
  std::optional<InProcessActor> actor;
  std::optional<InProcessReplay> replay;
  ExperienceSource source;
  learner::ParametersSink* sink = nullptr;
  if (uses_replay(config.algorithm)) {
    source = &replay.emplace(config);
    sink = &*replay;
  } else {
    source = &actor.emplace(config);
    sink = &*actor;
  }
  if (options.http) check_listenable(*options.http);
  const auto run = open_or_create(config, options);
  const RunLock lock(run);
  record(run, config, options, agreement_of(config, *config.env.make()));
  log_into(run, "learner", options.log_level);
  if (options.resume && replay) {
    spdlog::warn("the replay begins empty: where all is in one process, it is not saved");
  }
  if (!warm_started(config, run, make_network, options)) return kExitStoppedBeforeTraining;
  TrainingSession session(config, options, run, make_network, source, *sink, {});
  std::optional<Dashboard> dashboard;
  if (options.http) dashboard.emplace(std::vector{run.path()});
  run_role_threads({{"learn", [&session](const std::stop_token& stop) { session.run(stop); }}},
                   [&session] { session.request_checkpoint(); },
                   {.http = options.http,
                    .report =
                        [&session, &run] {
                          auto status = session.status();
                          status.update({{"role", "learner"}, {"run", run.name()}});
                          return RoleReport{json_text(status), true, {}};
                        },
                    .further = dashboard ? dashboard->pages() : FurtherPages{},
                    .silence = silence_of(config)});
  if (const auto why = session.divergence()) throw UserError(*why);
  return 0;
}

}  // namespace pacml::apps
