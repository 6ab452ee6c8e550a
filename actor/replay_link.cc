#include "actor/replay_link.h"

#include <utility>
#include <variant>

#include "common/check.h"

namespace pacml::actor {
namespace {

LinkConfig with_give_up(LinkConfig config, std::optional<Duration> give_up) {
  config.give_up = give_up.value_or(config.give_up);
  return config;
}

}  // namespace

ReplayLink::ReplayLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
                       transport::FrameClient& shard, const wire::Hello& hello,
                       std::span<const env::GraphFeaturesPtr> graphs, const LinkConfig& config,
                       std::optional<Duration> shard_give_up, const Clock& clock)
    : learner_(learner, {"learner", ServerLink::WhenItStops::kEnd}, hello, graphs, config,
               &weights_, clock),
      weights_(learner_, announcements, WeightsInbox::Supply::kOnDemand, config, clock),
      shard_(shard, {"replay shard", ServerLink::WhenItStops::kWaitForAnother}, hello, graphs,
             with_give_up(config, shard_give_up), nullptr, clock) {}

Result<wire::Welcome> ReplayLink::join(std::stop_token stop) { return learner_.join(stop); }

Result<Work> ReplayLink::next_work(std::stop_token stop) {
  return shard_.await_grant(stop, [this] { return learner_.tend(); })
      .map([](std::uint32_t unrolls) { return Work{unrolls}; });
}

Result<void> ReplayLink::tend() {
  return learner_.tend().and_then([this] { return shard_.tend(); });
}

Result<void> ReplayLink::send(ActorMessage&& message, std::stop_token stop) {
  auto* batch = std::get_if<PrioritizedTransitions>(&message);
  PACML_CHECK(batch != nullptr, "a replay shard is sent transitions");
  return shard_.send(wire::Insert{{}, {}, {}, std::move(*batch)}, stop,
                     [this] { return learner_.tend(); });
}

// The learner is joined again where that is needed by every send(), which is not far.
std::optional<model::Parameters> ReplayLink::newest_parameters() { return weights_.newest(); }

Result<model::Parameters> ReplayLink::first_parameters(std::stop_token stop) {
  return weights_.first(stop);
}

void ReplayLink::leave(const std::string& reason) {
  shard_.say(wire::Goodbye{reason});
  learner_.say(wire::Goodbye{reason});
}

}  // namespace pacml::actor
