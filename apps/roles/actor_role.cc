#include "apps/roles/actor_role.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>

#include "actor/actor_loop.h"
#include "actor/impala_behaviour.h"
#include "actor/learner_link.h"
#include "apps/roles/actor_seed.h"
#include "apps/roles/endpoints.h"
#include "common/asio.h"
#include "common/config/dump.h"
#include "common/log.h"
#include "common/signals.h"
#include "common/thread_group.h"
#include "common/transport/dealer.h"
#include "common/transport/subscriber.h"
#include "env/tasks/partitioning.h"
#include "model/fused_policy.h"

namespace pacml::apps {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

wire::Hello make_hello(const TrainConfig& config, const ActorRoleOptions& options,
                       const env::PartitioningWorld& world) {
  const Agreement agreement = agreement_of(config, world);
  wire::Hello hello;
  hello.role = wire::Role::kActor;
  hello.actor = ActorId{options.id};
  // Later lives of an actor have larger incarnations, also on another host, as far as clocks agree.
  hello.incarnation = Incarnation{
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count())};
  hello.config_hash = config_hash(agreement);
  hello.config_text = dump_config(agreement);
  hello.run_id = options.run_id;
  hello.host = host_name();
  hello.pid = static_cast<std::uint32_t>(getpid());
  return hello;
}

// Joins the learner and acts; returns why it ended.
Error act(const TrainConfig& config, const ActorRoleOptions& options, transport::Context& context,
          const std::stop_token& stop) {
  const auto endpoint = transport::Endpoint::parse(options.learner);
  transport::Dealer learner(context, endpoint, config.transport);
  transport::Subscriber announcements(context, announcement_endpoint(endpoint), config.transport);
  const auto world = make_world(config);
  actor::LearnerLink link(learner, announcements, make_hello(config, options, *world),
                          world->spec().graphs);
  const auto welcome = link.join(stop);
  if (!welcome) return welcome.error();
  spdlog::info("joined run {} at policy version {}", welcome->run_id,
               welcome->policy_version.get());
  const auto policy = model::make_fused_policy(model::make_shape(config.network, world->spec()));
  const Seed seed = actor_seed(welcome->run_seed, ActorId{options.id}, welcome->policy_version);
  actor::ActorLoop loop(
      config.actor, [&world] { return std::make_unique<env::PartitioningEnv>(world); }, *policy,
      std::make_unique<actor::ImpalaBehaviour>(world->spec(), config.actor, seed), seed);
  const Error ended = loop.run(link, stop);
  link.leave(ended.detail);
  spdlog::info("acted {} decisions, joined {} times; ended: {}", loop.decisions(), link.joins(),
               ended.detail);
  return ended;
}

}  // namespace

int run_actor(const TrainConfig& config, const ActorRoleOptions& options) {
  set_up_logging(
      {"actor-" + std::to_string(options.id), options.run_id, options.log_level, {}, true});
  boost::asio::io_context io;
  Signals signals(io);
  transport::Context context;
  Error ended{Errc::kStopped, "asked to stop"};
  ThreadGroup threads;
  threads.spawn("actor", [&](const std::stop_token& stop) {
    // However it ends, the control thread must learn of it.
    const std::shared_ptr<void> wake_control(
        nullptr, [&](void*) { boost::asio::post(io, [&] { signals.cancel(); }); });
    ended = act(config, options, context, stop);
  });
  const std::stop_callback on_signal(signals.token(), [&] {
    threads.request_stop();
    signals.cancel();
  });
  io.run();
  threads.request_stop();
  threads.join();
  if (ended.code == Errc::kStopped) return 0;
  throw UserError(ended.detail);
}

}  // namespace pacml::apps
