#include "apps/roles/learner_role.h"

#include <spdlog/spdlog.h>

#include <functional>
#include <memory>

#include "apps/roles/endpoints.h"
#include "apps/roles/in_process_actor.h"
#include "apps/roles/training_session.h"
#include "apps/run_directory.h"
#include "common/asio.h"
#include "common/config/dump.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/thread_group.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "env/tasks/partitioning.h"
#include "learner/serving/experience_server.h"

namespace pacml::apps {
namespace {

serving::RunIdentity identity_of(const TrainConfig& config, const env::PartitioningWorld& world,
                                 const std::string& run_id) {
  const Agreement agreement = agreement_of(config, world);
  serving::RunIdentity identity;
  identity.run_id = run_id;
  identity.run_seed = Seed{static_cast<std::uint64_t>(config.seed)};
  identity.config_hash = config_hash(agreement);
  identity.config_text = dump_config(agreement);
  identity.max_policy_lag = static_cast<std::uint64_t>(config.impala.max_policy_lag);
  return identity;
}

RunDirectory open_or_create(const TrainConfig& config, const LearnerRoleOptions& options) {
  return options.resume ? RunDirectory::open(options.run_directory)
                        : RunDirectory::create(options.run_directory, dump_config(config));
}

// A port that is in use should be said before the run folder is made.
void check_bindable(const transport::Endpoint& endpoint, const transport::SocketConfig& config) {
  transport::Context context;
  const transport::Router router(context, endpoint, config);
  const transport::Publisher publisher(context, announcement_endpoint(router.endpoint()), config);
}

// Learns on one thread and, where there is somebody to serve, serves on another; this one turns
// signals into a stop or a checkpoint. Comes back when learning has ended.
void run_threads(TrainingSession& session,
                 const std::function<void(const std::stop_token&)>& serve) {
  boost::asio::io_context io;
  Signals signals(io, {.stop = {}, .checkpoint = [&session] { session.request_checkpoint(); }});
  ThreadGroup threads;
  const auto spawn = [&](const char* name, auto body) {
    threads.spawn(name, [&io, &signals, body](const std::stop_token& stop) {
      // However the thread ends, this one must learn of it.
      const std::shared_ptr<void> wake_control(
          nullptr, [&](void*) { boost::asio::post(io, [&signals] { signals.cancel(); }); });
      body(stop);
    });
  };
  if (serve) spawn("serve", serve);
  spawn("learn", [&session](const std::stop_token& stop) { session.run(stop); });
  const std::stop_callback on_signal(signals.token(), [&] {
    threads.request_stop();
    signals.cancel();
  });
  io.run();
  threads.request_stop();
  threads.join();
}

}  // namespace

int run_learner(const TrainConfig& config, const LearnerRoleOptions& options,
                const NetworkFactory& make_network) {
  const auto endpoint = transport::Endpoint::parse(options.bind);
  // What cannot be leaves no folder behind.
  const auto world = make_world(config);
  check_bindable(endpoint, config.transport);
  const auto run = open_or_create(config, options);
  const RunLock lock(run);
  set_up_logging({"learner", run.name(), options.log_level, run.log_file("learner"), false});

  transport::Context context;
  learner::ExperienceServerConfig serving;
  serving.credits_per_actor = static_cast<std::uint64_t>(config.learner.credits_per_actor);
  serving.max_actors = static_cast<std::size_t>(config.learner.max_actors);
  learner::ExperienceServer server(identity_of(config, *world, run.name()), serving);
  learner::ServedActors actors(server);
  TrainingSession session(config, options, run, make_network, actors, actors,
                          [&server] { return server.counters(); });
  run_threads(session, [&](const std::stop_token& stop) {
    transport::Router router(context, endpoint, config.transport);
    transport::Publisher publisher(context, announcement_endpoint(router.endpoint()),
                                   config.transport);
    spdlog::info("serving actors at {}", router.endpoint().str());
    server.run(router, publisher, stop);
  });
  return 0;
}

int run_deterministic_learner(const TrainConfig& config, const LearnerRoleOptions& options,
                              const NetworkFactory& make_network) {
  InProcessActor actor(config);  // makes the task: what cannot be leaves no folder behind
  const auto run = open_or_create(config, options);
  const RunLock lock(run);
  set_up_logging({"learner", run.name(), options.log_level, run.log_file("learner"), false});
  TrainingSession session(config, options, run, make_network, actor, actor,
                          [] { return learner::ServerCounters{}; });
  run_threads(session, {});
  return 0;
}

}  // namespace pacml::apps
