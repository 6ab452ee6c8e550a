#include "apps/roles/learner_role.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ratio>
#include <vector>

#include "apps/http/http_server.h"
#include "apps/process/open_files.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/endpoints.h"
#include "apps/roles/identity.h"
#include "apps/roles/in_process_actor.h"
#include "apps/roles/in_process_replay.h"
#include "apps/roles/learner_sockets.h"
#include "apps/roles/message_sizes.h"
#include "apps/roles/replay_source.h"
#include "apps/roles/role_threads.h"
#include "apps/roles/training_session.h"
#include "apps/roles/warm_start_phase.h"
#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "common/clock.h"
#include "common/config/dump.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "env/tasks/partitioning.h"
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
    check_graphs(run, agreement.graphs);
    run.record(dump_config(as_recorded(config)));
  }
  record_graphs(run, agreement.graphs);
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

// Who computes together may wait for the slowest, and does not hang.
Duration silence_of(const TrainConfig& config) {
  const double seconds = config.supervision.silence_seconds.count();
  if (seconds == 0 || config.learner.replicas == 1) return in_seconds(seconds);
  return in_seconds(seconds + config.learner.all_reduce_seconds.count());
}

// Of a batch, what the replica draws: shares add up to the whole, and each has a transition.
std::uint32_t share_of_batch(std::int64_t batch, std::int64_t replicas, std::int64_t replica) {
  const std::int64_t share = batch / replicas + (replica < batch % replicas ? 1 : 0);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, share));
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

// Nothing was learned, and nothing is saved: whoever asked for a trained policy has none.
constexpr int kStoppedBeforeTraining = 130;

// Lets `options` say what the warm start, if there is one, has found, and the time that is left.
// False: asked to stop meanwhile. Where it does not come to its end, the run has not begun.
bool warm_started(const TrainConfig& config, const RunDirectory& run, LearnerRoleOptions& options) {
  const TimePoint started = steady().now();
  try {
    const auto degree = run_warm_start(config, options, run);
    if (!degree) {
      run.abandon();
      spdlog::warn("stopped before training began");
      std::cerr << "stopped before training began: nothing is saved\n";
      return false;
    }
    options.preferred_degree = *degree;
  } catch (const UserError&) {
    run.abandon();
    throw;
  }
  const std::chrono::duration<double, std::ratio<60>> gone = steady().now() - started;
  if (options.minutes) options.minutes = std::max(1e-9, *options.minutes - gone.count());
  return true;
}

}  // namespace

int run_learner(const TrainConfig& config, const LearnerRoleOptions& given,
                const NetworkFactory& make_network, const ReplicaConnector& connect) {
  LearnerRoleOptions options = given;
  LifeLine life_line(silence_of(config));
  check_replay_addresses(config, options.replay);
  check_replica_options(config, options.several);
  const bool leads = options.several.replica == 0;
  const std::string role = leads ? "learner" : "learner-" + std::to_string(options.several.replica);
  const auto endpoint = transport::Endpoint::parse(options.bind);
  // What cannot be leaves no folder behind.
  const auto world = make_world(config);
  const auto encryption = encryption_of(config.security, Party::kServer);
  check_bindable(endpoint, config, encryption);
  if (options.http) check_listenable(*options.http);
  if (config.learner.replicas > 1 && leads) {
    transport::Context context(1, encryption);
    const transport::Router board(context, transport::Endpoint::parse(options.several.leader),
                                  config.transport);
  }
  const Agreement agreement = agreement_of(config, *world);
  const auto run = open_or_create(config, options);
  std::optional<RunLock> lock;
  if (leads) {
    lock.emplace(run);
    record(run, config, options, agreement);
  }
  set_up_logging({.role = role,
                  .run_id = run.name(),
                  .level = options.log_level,
                  .file = run.log_file(role),
                  .to_stderr = false});
  if (!warm_started(config, run, options)) return kStoppedBeforeTraining;

  raise_open_file_limit();  // each actor takes two connections
  const transport::SocketConfig for_peers = sockets_for(config, *world);
  transport::Context context(1, encryption);
  learner::ExperienceServerConfig serving;
  if (config.algorithm == AlgorithmKind::kImpala) {
    serving.work = learner::wanted_work(config.impala, config.learner);
  }
  serving.max_actors = static_cast<std::size_t>(config.learner.max_actors);
  serving.silence = in_seconds(config.learner.forget_seconds);
  serving.max_waiting_bytes = static_cast<std::size_t>(config.learner.max_waiting_bytes);
  serving.farewell = in_seconds(config.patience.farewell_seconds);
  TrainingSession* learning = nullptr;
  learner::ExperienceServer server(make_identity(config, agreement, run.name()), serving,
                                   [&learning] { return learning->status(); });
  if (!leads) server.keep_actors();  // the run goes on without us
  learner::ServedActors actors(server);
  std::vector<RoleThread> threads = {
      {"serve", [&](const std::stop_token& stop) {
         const LearnerSockets sockets = bind_learner(context, endpoint, for_peers);
         spdlog::info("serving actors at {}", sockets.router->endpoint().str());
         server.run(*sockets.router, *sockets.publisher, stop);
       }}};

  ExperienceSource source = &actors;
  std::optional<replay::Client> client;
  std::optional<ReplaySource> drawn;
  if (config.algorithm == AlgorithmKind::kApex) {
    const Seed seed{static_cast<std::uint64_t>(config.seed)};
    const auto replica = static_cast<std::uint32_t>(options.several.replica);
    // Shards draw from the streams 0, 1, ... of this purpose; how draws are shared is the last one,
    // and of further learners those before it.
    client.emplace(
        make_hello(wire::Role::kLearner, ActorId{replica}, agreement, run.name()),
        options.replay.size(), client_config_of(config, options.several.replica),
        derive(seed, Purpose::kReplay, std::numeric_limits<std::uint32_t>::max() - replica));
    drawn.emplace(*client, leads);
    source = &*drawn;
    threads.push_back({"replay", [&](const std::stop_token& stop) {
                         talk_to_shards(*client, for_peers, options.replay, context, stop);
                       }});
  }
  std::optional<ReplicaWiring> wiring;
  if (config.learner.replicas > 1) {
    wiring.emplace(config, options.several, agreement, run.name(), context, connect,
                   !options.resume);
    if (auto thread = wiring->thread()) threads.push_back(*std::move(thread));
  }
  TrainingSession session(
      config, options, run, make_network, source, actors,
      {.server = [&server] { return server.counters(); },
       .replay = [&client] { return client ? std::optional(client->status()) : std::nullopt; },
       .drawn = drawn ? &*drawn : nullptr},
      wiring ? &wiring->replicas() : nullptr);
  learning = &session;
  threads.push_back({"learn", [&session, &server, &wiring](const std::stop_token& stop) {
                       const std::shared_ptr<void> at_end(nullptr, [&wiring](void*) {
                         if (wiring) wiring->disconnect();
                       });
                       try {
                         session.run(stop);
                         if (session.run_is_over()) server.dismiss_actors();
                       } catch (...) {
                         server.keep_actors();  // whoever starts us again needs them
                         throw;
                       }
                     }});
  run_role_threads(threads, [&session] { session.request_checkpoint(); },
                   {.http = options.http,
                    .report = [&server] { return report_of(server.board(), "serves_weights"); },
                    .silence = silence_of(config),
                    .life_line = &life_line});
  if (const auto why = session.divergence()) throw UserError(*why);
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
  if (config.algorithm == AlgorithmKind::kApex) {
    source = &replay.emplace(config);
    sink = &*replay;
  } else {
    source = &actor.emplace(config);
    sink = &*actor;
  }
  if (options.http) check_listenable(*options.http);
  const auto run = open_or_create(config, options);
  const RunLock lock(run);
  record(run, config, options, agreement_of(config, *make_world(config)));
  set_up_logging({.role = "learner",
                  .run_id = run.name(),
                  .level = options.log_level,
                  .file = run.log_file("learner"),
                  .to_stderr = false});
  if (!warm_started(config, run, options)) return kStoppedBeforeTraining;
  TrainingSession session(config, options, run, make_network, source, *sink, {});
  run_role_threads(
      {{"learn", [&session](const std::stop_token& stop) { session.run(stop); }}},
      [&session] { session.request_checkpoint(); },
      {.http = options.http,
       .report =
           [&session, &run] {
             auto status = session.status();
             status.update({{"role", "learner"}, {"run", run.name()}});
             return RoleReport{
                 status.dump(-1, ' ', false, json::error_handler_t::replace), true, {}};
           },
       .silence = silence_of(config)});
  if (const auto why = session.divergence()) throw UserError(*why);
  return 0;
}

}  // namespace pacml::apps
