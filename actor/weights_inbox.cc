#include "actor/weights_inbox.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/wire/codec.h"

namespace pacml::actor {
namespace {

// Announcements can be missed: after so long without news, we ask for weights anyway.
constexpr std::chrono::milliseconds kAskEvery{1'000};

}  // namespace

WeightsInbox::WeightsInbox(ServerLink& learner, transport::FrameSubscriber& announcements,
                           Supply supply, const LinkConfig& config, const Clock& clock)
    : learner_(&learner),
      announcements_(&announcements),
      supply_(supply),
      ask_again_(config.hello_interval),
      patience_(config.weights_patience),
      lost_after_(config.weights_lost),
      clock_(&clock) {}

void WeightsInbox::joined(const wire::Welcome& welcome) {
  newest_.reset();
  have_ = PolicyVersion{0};
  announced_ = welcome.policy_version;
  refresh_lag_ = supply_ == Supply::kWithWork ? wire::overdue_lag(welcome.max_policy_lag)
                                              : wire::refresh_lag(welcome.max_policy_lag);
  requested_ = false;
}

void WeightsInbox::received(wire::Message&& message) {
  heard_at_ = clock_->now();
  if (auto* weights = std::get_if<wire::Weights>(&message)) {
    requested_ = false;
    // What the learner itself says is what it has, also where it went back to an older version.
    announced_ = weights->version;
    newest_ = model::Parameters{weights->version, weights->layout_hash, std::move(weights->values)};
  } else if (const auto* heard = std::get_if<wire::WeightsAnnouncement>(&message)) {
    requested_ = false;
    announced_ = heard->version;
  }
}

void WeightsInbox::hear_announcements() {
  const auto frame = announcements_->latest(Deadline::now());
  if (!frame) return;
  const auto message = wire::decode(*frame);
  if (!message) return learner_->count_malformed();
  if (const auto* heard = std::get_if<wire::WeightsAnnouncement>(&*message)) {
    heard_at_ = clock_->now();
    announced_ = std::max(announced_, heard->version);
  }
}

void WeightsInbox::request() {
  asked_at_ = clock_->now();
  requested_ = learner_->say(wire::GetWeights{have_});
}

std::optional<model::Parameters> WeightsInbox::take() {
  if (!newest_) return std::nullopt;
  have_ = newest_->version;
  return std::exchange(newest_, std::nullopt);
}

std::optional<model::Parameters> WeightsInbox::newest() {
  static_cast<void>(learner_->drain());  // an error is said again when something is sent
  hear_announcements();
  const TimePoint now = clock_->now();
  const bool old =
      announced_ > have_ && (have_.get() == 0 || announced_.get() - have_.get() >= refresh_lag_);
  const bool due = requested_ ? now - asked_at_ >= lost_after_
                              : old || now - std::max(asked_at_, heard_at_) >= kAskEvery;
  if (due && !newest_ && learner_->joined()) request();
  const auto until = Deadline::in(patience_);
  while (requested_ && !newest_ && learner_->hear(until).value_or(false)) {
  }
  return take();
}

Result<model::Parameters> WeightsInbox::first(std::stop_token stop) {
  TimePoint next_request = clock_->now();
  while (!newest_) {
    if (auto welcome = learner_->join(stop); !welcome) return tl::unexpected(welcome.error());
    if (clock_->now() >= next_request) {
      request();
      next_request = clock_->now() + ask_again_;
    }
    const auto heard = learner_->hear(Deadline::in(learner_->slice()));
    if (!heard) return tl::unexpected(heard.error());
    if (auto tended = learner_->tend(); !tended) return tl::unexpected(tended.error());
  }
  return *take();
}

}  // namespace pacml::actor
