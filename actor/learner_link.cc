#include "actor/learner_link.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/wire/codec.h"

namespace pacml::actor {
namespace {

// How often a wait looks at its stop token.
constexpr std::chrono::milliseconds kSlice{100};
// The socket's queue is bounded; a full one means that the connection does not drain.
constexpr std::chrono::milliseconds kSendPatience{1'000};
// Announcements can be missed: after so many messages without news, the link asks for weights
// anyway.
constexpr int kAskEvery = 4;

TimePoint now() { return std::chrono::steady_clock::now(); }

wire::Graph to_message(const env::GraphFeatures& graph) {
  wire::Graph message;
  message.hash = graph.hash;
  message.num_nodes = static_cast<std::uint32_t>(graph.num_nodes);
  message.num_edges = static_cast<std::uint32_t>(graph.num_edges);
  message.node_width = static_cast<std::uint32_t>(graph.node_width);
  message.edge_width = static_cast<std::uint32_t>(graph.edge_width);
  message.node_features = graph.node_features;
  message.edge_features = graph.edge_features;
  message.edge_src = graph.edge_src;
  message.edge_dst = graph.edge_dst;
  return message;
}

}  // namespace

LearnerLink::LearnerLink(transport::FrameClient& learner, transport::FrameSubscriber& announcements,
                         wire::Hello hello, std::span<const env::GraphFeaturesPtr> graphs,
                         const LearnerLinkConfig& config)
    : learner_(&learner),
      announcements_(&announcements),
      hello_(std::move(hello)),
      graphs_(graphs.begin(), graphs.end()),
      config_(config) {}

Result<void> LearnerLink::transmit(wire::Message message) {
  return learner_->send(wire::encode(message), Deadline::in(kSendPatience));
}

Result<void> LearnerLink::pump(Deadline deadline) {
  auto frame = learner_->receive(deadline);
  if (!frame) return tl::unexpected(frame.error());
  last_heard_ = now();
  auto message = wire::decode(*frame);
  if (!message) return tl::unexpected(message.error());
  return handle(*std::move(message));
}

Result<void> LearnerLink::handle(wire::Message message) {
  return std::visit(
      [this](auto&& m) -> Result<void> {
        using M = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<M, wire::Welcome>) {
          if (joined_) return {};  // the answer to a Hello that was repeated
          joined_ = true;
          granted_ = m.credits;
          announced_ = m.policy_version;
          weights_requested_ = false;
          welcome_ = std::move(m);
        } else if constexpr (std::is_same_v<M, wire::Refused>) {
          if (m.why == wire::Refusal::kUnknownPeer) {
            joined_ = false;
          } else if (m.why == wire::Refusal::kStopping) {
            return end(Errc::kStopped, std::move(m.reason));
          } else {
            return end(Errc::kVersionMismatch, std::move(m.reason));
          }
        } else if constexpr (std::is_same_v<M, wire::Credit>) {
          granted_ = std::max(granted_, m.granted);
          acknowledged_ = std::max(acknowledged_, m.last_accepted);
        } else if constexpr (std::is_same_v<M, wire::NeedGraph>) {
          send_graph(m.hash);
        } else if constexpr (std::is_same_v<M, wire::Weights>) {
          weights_requested_ = false;
          announced_ = std::max(announced_, m.version);
          newest_ = model::Parameters{m.version, m.layout_hash, std::move(m.values)};
        } else if constexpr (std::is_same_v<M, wire::WeightsAnnouncement>) {
          weights_requested_ = false;
          announced_ = std::max(announced_, m.version);
        } else if constexpr (std::is_same_v<M, wire::Pong>) {
          // The learner has what was sent before the Ping, or it was lost, and its credits with it.
          if (acknowledged_.get() < m.nonce && m.nonce <= sent_.get()) joined_ = false;
        } else if constexpr (std::is_same_v<M, wire::Goodbye>) {
          return end(Errc::kStopped, std::move(m.reason));
        }
        return {};  // what only a server gets is ignored
      },
      std::move(message));
}

Result<void> LearnerLink::end(Errc code, std::string reason) {
  ended_ = Error{code, std::move(reason)};
  return tl::unexpected(*ended_);
}

void LearnerLink::send_graph(GraphHash hash) {
  const auto it = std::find_if(graphs_.begin(), graphs_.end(),
                               [&](const auto& graph) { return graph->hash == hash; });
  // A graph that we never named: the learner asks again or gives up; nothing to do here.
  if (it != graphs_.end()) static_cast<void>(transmit(to_message(**it)));
}

Result<wire::Welcome> LearnerLink::join(std::stop_token stop) {
  const auto give_up_at = now() + config_.give_up;
  joined_ = false;
  unacknowledged_ += sent_.get() - acknowledged_.get();
  sent_ = Sequence{0};
  acknowledged_ = Sequence{0};
  newest_.reset();
  have_ = PolicyVersion{0};  // a learner that resumed may be at an older version than ours
  if (joins_ > 0) hello_.incarnation = Incarnation{hello_.incarnation.get() + 1};
  while (now() < give_up_at) {
    // A queue that is full of Hellos nobody reads is as good as another Hello.
    static_cast<void>(transmit(hello_));
    for (const auto again = now() + config_.hello_interval; !joined_ && now() < again;) {
      if (stop.stop_requested()) return fail(Errc::kStopped, "asked to stop");
      const auto pumped = pump(Deadline{std::min(again, now() + kSlice)});
      if (!pumped && pumped.error().code == Errc::kStopped) return tl::unexpected(pumped.error());
      if (ended_) return tl::unexpected(*ended_);
    }
    if (joined_) {
      ++joins_;
      return welcome_;
    }
  }
  return fail(Errc::kTimeout,
              "no learner answered within " + std::to_string(config_.give_up.count()) + " s");
}

Result<void> LearnerLink::keep_joined(std::stop_token stop) {
  if (ended_) return tl::unexpected(*ended_);
  if (joined_ && now() - last_heard_ > config_.silence) joined_ = false;
  if (joined_) return {};
  auto welcome = join(stop);
  if (!welcome) return tl::unexpected(welcome.error());
  return {};
}

void LearnerLink::ping_if_silent() {
  const TimePoint since = std::max(last_heard_, last_ping_);
  if (now() - since < config_.ping_interval) return;
  last_ping_ = now();
  static_cast<void>(transmit(wire::Ping{sent_.get()}));
}

Result<void> LearnerLink::send(Unrolls&& unrolls, std::stop_token stop) {
  last_heard_ = now();  // silence counts from the start of the wait
  while (true) {
    if (stop.stop_requested()) return fail(Errc::kStopped, "asked to stop");
    if (auto joined = keep_joined(stop); !joined) return joined;
    if (sent_.get() < granted_) break;
    ping_if_silent();
    const auto pumped = pump(Deadline::in(std::min(kSlice, config_.ping_interval)));
    if (pumped || pumped.error().code == Errc::kTimeout) continue;
    if (pumped.error().code != Errc::kCorruptFrame) return pumped;
  }
  const Sequence next{sent_.get() + 1};
  auto frame =
      wire::encode(wire::Experience{hello_.actor, hello_.incarnation, next, std::move(unrolls)});
  while (true) {
    auto sent = learner_->send(std::move(frame), Deadline::in(kSlice));
    if (sent) break;
    if (sent.error().code != Errc::kTimeout) return sent;
    if (stop.stop_requested()) return fail(Errc::kStopped, "asked to stop");
  }
  sent_ = next;
  return {};
}

void LearnerLink::hear_announcements() {
  const auto frame = announcements_->latest(Deadline::now());
  if (!frame) return;
  const auto message = wire::decode(*frame);
  if (!message) return;
  if (const auto* heard = std::get_if<wire::WeightsAnnouncement>(&*message)) {
    announced_ = std::max(announced_, heard->version);
  }
}

void LearnerLink::request_weights() {
  if (weights_requested_) return;
  weights_requested_ = transmit(wire::GetWeights{have_}).has_value();
}

std::optional<model::Parameters> LearnerLink::take_newest() {
  if (!newest_) return std::nullopt;
  have_ = newest_->version;
  return std::exchange(newest_, std::nullopt);
}

std::optional<model::Parameters> LearnerLink::newest_parameters() {
  while (pump(Deadline::now())) {
  }
  hear_announcements();
  if (++calls_without_news_ >= kAskEvery || announced_ > have_) {
    calls_without_news_ = 0;
    if (!newest_) request_weights();
  }
  const auto until = Deadline::in(config_.weights_patience);
  while (weights_requested_ && !newest_ && pump(until)) {
  }
  return take_newest();
}

Result<model::Parameters> LearnerLink::first_parameters(std::stop_token stop) {
  while (!newest_) {
    if (stop.stop_requested()) return fail(Errc::kStopped, "asked to stop");
    if (auto joined = keep_joined(stop); !joined) return tl::unexpected(joined.error());
    weights_requested_ = false;
    request_weights();
    const auto again = Deadline::in(config_.hello_interval);
    while (!newest_ && !again.expired()) {
      const auto pumped = pump(again);
      if (pumped || pumped.error().code == Errc::kCorruptFrame) continue;
      if (pumped.error().code == Errc::kTimeout) break;
      return tl::unexpected(pumped.error());
    }
  }
  return *take_newest();
}

void LearnerLink::leave(const std::string& reason) {
  static_cast<void>(learner_->send(wire::encode(wire::Goodbye{reason}), Deadline::now()));
}

}  // namespace pacml::actor
