#include "apps/roles/actor_role.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>

#include "actor/learner_link.h"
#include "actor/replay_link.h"
#include "apps/roles/actor_seed.h"
#include "apps/roles/actor_status.h"
#include "apps/roles/composition.h"
#include "apps/roles/encryption.h"
#include "apps/roles/identity.h"
#include "apps/roles/message_sizes.h"
#include "apps/roles/role_threads.h"
#include "apps/run/endpoints.h"
#include "common/clock.h"
#include "common/exit_codes.h"
#include "common/log.h"
#include "common/scheduling.h"
#include "common/transport/dealer.h"
#include "common/transport/subscriber.h"
#include "env/task.h"
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

// Whether more than the learner is away: another one would not help.
bool shard_is_gone(const actor::LearnerLink&) { return false; }
bool shard_is_gone(const actor::ReplayLink& link) { return link.shard_is_gone(); }

// What ended an actor's work for one learner.
struct Stint {
  Error ended;
  bool joined = false;        // the learner was there
  bool learner_away = false;  // it is the learner that is not, or no longer, there
};

// Acts until something ends it, over a link that is to be joined first.
template <class Link>
Stint act(const TrainConfig& config, const ActorRoleOptions& options, const env::TaskPtr& task,
          Link& link, ActorStatus& status, const std::stop_token& stop) {
  const auto welcome = link.join(stop);
  if (!welcome) return {welcome.error(), false, welcome.error().code == Errc::kTimeout};
  const Seed seed = actor_seed(welcome->run_seed, ActorId{options.id}, welcome->policy_version,
                               welcome->incarnation);
  spdlog::info("joined run {} at policy version {}; draws from seed {}", welcome->run_id,
               welcome->policy_version.get(), seed.get());
  const auto policy = model::make_fused_policy(model::make_shape(config.network, task->spec()));
  const auto loop = make_actor_loop(config, *task, *policy, ActorId{options.id}, seed);
  ReportedSink sink(
      link,
      [&loop] {
        return ActorProgress{loop->decisions(), loop->refused_weights()};
      },
      status);
  const Error ended = loop->run(sink, stop);
  link.leave(ended.detail);
  const std::string refused =
      loop->refused_weights() > 0
          ? std::to_string(loop->refused_weights()) + " weights refused (learning diverged), "
          : "";
  spdlog::info("acted {} decisions, {}{}; ended: {}", loop->decisions(), refused, history(link),
               ended.detail);
  return {ended, true, ended.code == Errc::kTimeout && !shard_is_gone(link)};
}

// Joins that learner, and a replay shard where there are some, and acts.
Stint connect_and_act(const TrainConfig& config, const ActorRoleOptions& options,
                      const std::string& address, transport::Context& context, ActorStatus& status,
                      const std::stop_token& stop) {
  const auto endpoint = transport::Endpoint::parse(address);
  constexpr auto kWatched = transport::Dealer::Handshakes::kWatched;
  const auto task = config.env.make();
  const auto sockets = sockets_for(config, *task);
  transport::Dealer learner(context, endpoint, sockets, kWatched);
  transport::Subscriber announcements(context, announcement_endpoint(endpoint), sockets);
  const auto hello =
      make_actor_hello(config, ActorId{options.id}, agreement_of(config, *task), options.run_id);
  const auto& graphs = task->spec().graphs;
  auto config_of_links = actor::LinkConfig::from(config.patience);
  const Duration give_up = config_of_links.give_up;
  if (options.learners.size() > 1) {
    config_of_links.give_up =
        std::min(config_of_links.give_up, in_seconds(config.patience.move_on_seconds));
  }
  config_of_links.report = [&status](const actor::LinkReport& report) { status.heard(report); };
  if (options.replay.empty()) {
    actor::LearnerLink link(learner, announcements, hello, graphs, config_of_links);
    return act(config, options, task, link, status, stop);
  }
  // Actors are spread over the shards.
  const auto& nearest = options.replay[options.id % options.replay.size()];
  transport::Dealer shard(context, transport::Endpoint::parse(nearest), sockets, kWatched);
  actor::ReplayLink link(learner, announcements, shard, hello, graphs, config_of_links, give_up);
  return act(config, options, task, link, status, stop);
}

// Acts for one learner after the other: none that is away is waited for while others are there.
Error act_for_all(const TrainConfig& config, const ActorRoleOptions& options,
                  transport::Context& context, ActorStatus& status, const std::stop_token& stop) {
  const std::size_t learners = options.learners.size();
  const Duration give_up = in_seconds(config.patience.give_up_seconds);
  TimePoint alone_since = steady().now();
  for (std::size_t turn = options.id % learners;; turn = (turn + 1) % learners) {
    const TimePoint begun = steady().now();
    auto [ended, joined, learner_away] =
        connect_and_act(config, options, options.learners[turn], context, status, stop);
    if (!learner_away || learners == 1) return ended;
    const TimePoint now = steady().now();
    if (joined) {
      alone_since = std::max(begun, now - in_seconds(config.patience.move_on_seconds));
    }
    if (now - alone_since >= give_up) return ended;
    spdlog::warn("{}; trying the learner at {}", ended.detail,
                 options.learners[(turn + 1) % learners]);
  }
}

}  // namespace

int run_actor(const TrainConfig& config, const ActorRoleOptions& options) {
  use_batch_scheduling();
  LifeLine life_line(in_seconds(config.supervision.silence_seconds),
                     in_seconds(config.supervision.stop_seconds));
  check_replay_addresses(config, options.replay);
  check_learner_addresses(config, options.learners);
  set_up_logging({.role = "actor-" + std::to_string(options.id),
                  .run_id = options.run_id,
                  .level = options.log_level,
                  .file = options.log,
                  .to_stderr = options.log.empty()});
  transport::Context context(1, encryption_of(config.security, Party::kClient));
  ActorStatus status(ActorId{options.id}, options.run_id);
  Error ended{Errc::kStopped, "asked to stop"};
  bool by_signal = false;
  run_role_threads({{"actor",
                     [&](const std::stop_token& stop) {
                       ended = act_for_all(config, options, context, status, stop);
                       by_signal = stop.stop_requested();
                     }}},
                   {},
                   {.http = options.http,
                    .report = [&status] { return status.report(); },
                    .silence = in_seconds(config.supervision.silence_seconds),
                    .life_line = &life_line});
  if (ended.code == Errc::kStopped) {
    // Whoever looks after us knows whether the signal was theirs: else the run still wants us.
    return by_signal && life_line.is_open() ? kExitTryAgain : 0;
  }
  if (ended.code != Errc::kTimeout) throw UserError(ended.detail);
  // Nothing is wrong with us: whoever started us may try again.
  spdlog::error("{}", ended.detail);
  return kExitTryAgain;
}

}  // namespace pacml::apps
