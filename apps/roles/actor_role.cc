#include "apps/roles/actor_role.h"

#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "actor/learner_link.h"
#include "actor/replay_link.h"
#include "apps/roles/actor_status.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/endpoints.h"
#include "apps/roles/identity.h"
#include "apps/roles/message_sizes.h"
#include "apps/roles/role_threads.h"
#include "common/exit_codes.h"
#include "common/log.h"
#include "common/transport/dealer.h"
#include "common/transport/subscriber.h"
#include "env/tasks/partitioning.h"
#include "model/fused_policy.h"

namespace pacml::apps {
namespace {

std::string history(const actor::LearnerLink& link) {
  return "joined " + std::to_string(link.joins()) + " times, " +
         std::to_string(link.unacknowledged()) + " messages may be lost";
}

std::string history(const actor::ReplayLink& link) {
  return "joined " + std::to_string(link.learner_joins()) + " times, and the replay shard " +
         std::to_string(link.shard_joins()) + " times, " + std::to_string(link.unacknowledged()) +
         " messages may be lost";
}

// Acts until something ends it, over a link that has been joined; what that was.
template <class Link>
Error act(const TrainConfig& config, const ActorRoleOptions& options,
          const std::shared_ptr<const env::PartitioningWorld>& world, Link& link,
          ActorStatus& status, const std::stop_token& stop) {
  const auto welcome = link.join(stop);
  if (!welcome) return welcome.error();
  spdlog::info("joined run {} at policy version {}", welcome->run_id,
               welcome->policy_version.get());
  const auto policy = model::make_fused_policy(model::make_shape(config.network, world->spec()));
  const auto loop = make_actor_loop(config, world, *policy, welcome->run_seed, ActorId{options.id},
                                    welcome->policy_version);
  ReportedSink sink(
      link, [&loop] { return loop->decisions(); }, status);
  const Error ended = loop->run(sink, stop);
  link.leave(ended.detail);
  spdlog::info("acted {} decisions, {}; ended: {}", loop->decisions(), history(link), ended.detail);
  return ended;
}

// Joins the learner, and a replay shard where there are some, and acts.
Error connect_and_act(const TrainConfig& config, const ActorRoleOptions& options,
                      transport::Context& context, ActorStatus& status,
                      const std::stop_token& stop) {
  // Actors are spread over the learners, and over the shards.
  const auto& nearest_learner = options.learners[options.id % options.learners.size()];
  const auto endpoint = transport::Endpoint::parse(nearest_learner);
  constexpr auto kWatched = transport::Dealer::Handshakes::kWatched;
  const auto world = make_world(config);
  const auto sockets = sockets_for(config, *world);
  transport::Dealer learner(context, endpoint, sockets, kWatched);
  transport::Subscriber announcements(context, announcement_endpoint(endpoint), sockets);
  const auto hello =
      make_actor_hello(config, ActorId{options.id}, agreement_of(config, *world), options.run_id);
  const auto& graphs = world->spec().graphs;
  auto config_of_links = actor::LinkConfig::from(config.patience);
  config_of_links.report = [&status](const actor::LinkReport& report) { status.heard(report); };
  if (options.replay.empty()) {
    actor::LearnerLink link(learner, announcements, hello, graphs, config_of_links);
    return act(config, options, world, link, status, stop);
  }
  const auto& nearest = options.replay[options.id % options.replay.size()];
  transport::Dealer shard(context, transport::Endpoint::parse(nearest), sockets, kWatched);
  actor::ReplayLink link(learner, announcements, shard, hello, graphs, config_of_links);
  return act(config, options, world, link, status, stop);
}

}  // namespace

int run_actor(const TrainConfig& config, const ActorRoleOptions& options) {
  LifeLine life_line(in_seconds(config.supervision.silence_seconds));
  check_replay_addresses(config, options.replay);
  set_up_logging({.role = "actor-" + std::to_string(options.id),
                  .run_id = options.run_id,
                  .level = options.log_level,
                  .file = options.log,
                  .to_stderr = options.log.empty()});
  transport::Context context(1, encryption_of(config.security, Party::kClient));
  ActorStatus status(ActorId{options.id}, options.run_id);
  Error ended{Errc::kStopped, "asked to stop"};
  run_role_threads({{"actor",
                     [&](const std::stop_token& stop) {
                       ended = connect_and_act(config, options, context, status, stop);
                     }}},
                   {},
                   {.http = options.http,
                    .report = [&status] { return status.report(); },
                    .silence = in_seconds(config.supervision.silence_seconds),
                    .life_line = &life_line});
  if (ended.code == Errc::kStopped) return 0;
  if (ended.code != Errc::kTimeout) throw UserError(ended.detail);
  // Nothing is wrong with us: whoever started us may try again.
  spdlog::error("{}", ended.detail);
  return kExitTryAgain;
}

}  // namespace pacml::apps
