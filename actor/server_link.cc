#include "actor/server_link.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/wire/codec.h"
#include "env/graph_message.h"

namespace pacml::actor {
namespace {

// How often a wait looks at its stop token, at least.
constexpr std::chrono::milliseconds kSlice{100};
// How long nobody need answer before that is told.
constexpr std::chrono::seconds kQuietly{10};

tl::unexpected<Error> asked_to_stop() { return fail(Errc::kStopped, "asked to stop"); }

}  // namespace

LinkConfig LinkConfig::from(const transport::PatienceConfig& config) {
  LinkConfig out;
  out.hello_interval = in_seconds(config.hello_seconds);
  out.ping_interval = in_seconds(config.ping_seconds);
  out.silence = in_seconds(config.silence_seconds);
  out.give_up = in_seconds(config.give_up_seconds);
  out.weights_patience = in_seconds(config.weights_seconds);
  out.weights_lost = in_seconds(config.lost_seconds);
  return out;
}

ServerLink::ServerLink(transport::FrameClient& transport, Server server, wire::Hello hello,
                       std::span<const env::GraphFeaturesPtr> graphs, const LinkConfig& config,
                       Listener* listener, const Clock& clock)
    : transport_(&transport),
      server_(std::move(server)),
      hello_(std::move(hello)),
      graphs_(graphs.begin(), graphs.end()),
      config_(config),
      slice_(std::min<Duration>({kSlice, config.hello_interval, config.ping_interval})),
      listener_(listener),
      clock_(&clock) {}

// ---- Hearing ----

Result<bool> ServerLink::hear(Deadline deadline) {
  if (ended_) return tl::unexpected(*ended_);
  auto frame = transport_->receive(deadline);
  if (!frame) {
    if (frame.error().code == Errc::kTimeout) return false;
    return end(frame.error().code, frame.error().detail).map([] { return false; });
  }
  last_heard_ = clock_->now();
  unanswered_since_.reset();
  auto message = wire::decode(*frame);
  if (!message) {
    if (message.error().code == Errc::kCorruptFrame) {  // as good as lost
      count_malformed();
      return true;
    }
    return end(message.error().code, message.error().detail).map([] { return true; });
  }
  return handle(*std::move(message)).map([] { return true; });
}

Result<void> ServerLink::handle(wire::Message message) {
  return std::visit(
      [this](auto& m) -> Result<void> {
        using M = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<M, wire::Welcome>) {
          // The answer to a Hello that was repeated, or of a former conversation.
          if (state_ != State::kJoining || m.incarnation != hello_.incarnation) return {};
          state_ = State::kJoined;
          if (++joins_ > 1) spdlog::info("joined the {} again", server_.name);
          granted_ = m.credits;
          acknowledged_ = Sequence{0};
          unrolls_ = m.unrolls;
          welcome_ = std::move(m);
          if (listener_ != nullptr) listener_->joined(welcome_);
        } else if constexpr (std::is_same_v<M, wire::Refused>) {
          return refused(std::move(m));
        } else if constexpr (std::is_same_v<M, wire::Credit>) {
          // What is still on its way from a former conversation is about other messages.
          if (state_ != State::kJoined || m.last_accepted > sent_) return {};
          // One that was overtaken says nothing of what is wanted now.
          if (m.granted >= granted_) unrolls_ = m.unrolls;
          granted_ = std::max(granted_, m.granted);
          acknowledged_ = std::max(acknowledged_, m.last_accepted);
        } else if constexpr (std::is_same_v<M, wire::NeedGraph>) {
          send_graph(m.hash);
        } else if constexpr (std::is_same_v<M, wire::Pong>) {
          // The server has what was sent before the Ping, or it was lost, and its grants with it.
          if (acknowledged_.get() < m.nonce && m.nonce <= sent_.get()) lose();
        } else if constexpr (std::is_same_v<M, wire::Goodbye>) {
          return stopped(std::move(m.reason));
        } else {
          if (listener_ != nullptr) listener_->received(std::move(m));
        }
        return {};
      },
      message);
}

Result<void> ServerLink::refused(wire::Refused refusal) {
  switch (refusal.why) {
    case wire::Refusal::kUnknownPeer:
      lose();
      return {};
    case wire::Refusal::kStopping:
      return stopped(std::move(refusal.reason));
    case wire::Refusal::kStale:
      return outdated(std::move(refusal));
    default:
      return end(Errc::kVersionMismatch, std::move(refusal.reason));
  }
}

Result<void> ServerLink::outdated(wire::Refused refusal) {
  constexpr Incarnation kLast{std::numeric_limits<std::uint64_t>::max()};
  // One that was welcomed has been replaced. One that was not comes after all that are known,
  // whatever its clock says.
  if (joins_ > 0 || refusal.newest == kLast) {
    return end(Errc::kVersionMismatch, std::move(refusal.reason));
  }
  if (refusal.newest < hello_.incarnation) return {};  // the answer to an earlier Hello
  hello_.incarnation = Incarnation{refusal.newest.get() + 1};
  next_hello_ = clock_->now();
  return {};
}

Result<void> ServerLink::stopped(std::string reason) {
  if (server_.when_it_stops == WhenItStops::kEnd) {
    say(wire::Goodbye{"heard"});  // else it would tell us again
    return end(Errc::kStopped, std::move(reason));
  }
  lose();
  return {};
}

Result<void> ServerLink::end(Errc code, std::string reason) {
  ended_ = Error{code, std::move(reason)};
  return tl::unexpected(*ended_);
}

void ServerLink::send_graph(GraphHash hash) {
  const auto it = std::find_if(graphs_.begin(), graphs_.end(),
                               [&](const auto& graph) { return graph->hash == hash; });
  // A graph that we never named, or that finds no room in the queue: after the next Ping, the
  // server asks again or gives up; nothing to do here.
  if (it != graphs_.end()) say(env::to_message(**it));
}

Result<void> ServerLink::drain() {
  while (true) {
    const auto heard = hear(Deadline::now());
    if (!heard) return tl::unexpected(heard.error());
    if (!*heard) return {};
  }
}

Result<void> ServerLink::listen() {
  // First what has come meanwhile: we may have been away longer than the server was silent.
  if (auto drained = drain(); !drained) return drained;
  if (unanswered_since_ && clock_->now() - *unanswered_since_ > config_.silence) lose();
  if (config_.report) config_.report({server_.name, joined(), joins_, unacknowledged_, malformed_});
  return {};
}

// ---- Speaking ----

bool ServerLink::say(const wire::Message& message) {
  return transport_->send(wire::encode(message), Deadline::now()).has_value();
}

void ServerLink::begin_joining() {
  state_ = State::kJoining;
  if (joins_ > 0) spdlog::warn("the {} has gone or forgotten us; looking for it", server_.name);
  unacknowledged_ += sent_.get() - acknowledged_.get();
  sent_ = Sequence{0};
  acknowledged_ = Sequence{0};
  unanswered_since_.reset();
  if (joins_ > 0) hello_.incarnation = Incarnation{hello_.incarnation.get() + 1};
  next_hello_ = clock_->now();
  give_up_at_ = next_hello_ + config_.give_up;
  tell_at_ = next_hello_ + kQuietly;
}

Result<void> ServerLink::notice_trouble() {
  const auto trouble = transport_->trouble();
  if (trouble && trouble->lasting) return end(Errc::kVersionMismatch, trouble->reason);
  const std::string reason = trouble ? trouble->reason : "";
  if (std::exchange(trouble_, reason) != reason && !reason.empty()) {
    spdlog::warn("no {} yet: {}", server_.name, reason);
  }
  return {};
}

Result<void> ServerLink::say_hello() {
  if (clock_->now() >= give_up_at_) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(config_.give_up).count();
    return end(Errc::kTimeout, "no " + server_.name + " answered within " +
                                   std::to_string(seconds) + " s" +
                                   (trouble_.empty() ? "" : ": " + trouble_));
  }
  if (clock_->now() < next_hello_) return {};
  if (auto bearable = notice_trouble(); !bearable) return bearable;
  if (clock_->now() >= tell_at_ && trouble_.empty()) {
    // A transport that cannot look up a name, or finds nobody there, says nothing of it.
    const std::string address = transport_->address();
    spdlog::warn("no {} has answered {}for {} s: is it there, can its name and port be reached?",
                 server_.name, address.empty() ? "" : "at " + address + " ", kQuietly.count());
    tell_at_ = give_up_at_;
  }
  next_hello_ = clock_->now() + config_.hello_interval;
  // A queue that is full of Hellos nobody reads is as good as another Hello.
  say(hello_);
  return {};
}

void ServerLink::say_ping() {
  if (clock_->now() - std::max(last_heard_, last_ping_) < config_.ping_interval) return;
  last_ping_ = clock_->now();
  if (!unanswered_since_) unanswered_since_ = last_ping_;
  say(wire::Ping{sent_.get()});
}

Result<void> ServerLink::speak() {
  if (state_ == State::kJoined) {
    say_ping();
    return {};
  }
  if (state_ == State::kApart) begin_joining();
  return say_hello();
}

Result<void> ServerLink::tend() {
  return listen().and_then([this] { return speak(); });
}

// ---- Waiting ----

Result<wire::Welcome> ServerLink::join(std::stop_token stop) {
  while (true) {
    if (stop.stop_requested()) return asked_to_stop();
    if (auto listened = listen(); !listened) return tl::unexpected(listened.error());
    if (joined()) return welcome_;
    if (auto spoken = speak(); !spoken) return tl::unexpected(spoken.error());
    if (auto heard = hear(Deadline::in(slice_)); !heard) return tl::unexpected(heard.error());
  }
}

namespace {

Result<void> go_on(const std::stop_token& stop, const ServerLink::Meanwhile& meanwhile) {
  if (stop.stop_requested()) return asked_to_stop();
  return meanwhile ? meanwhile() : Result<void>{};
}

void put_on(const ServerLink::Stamp& stamp, wire::Message& message) {
  std::visit(
      [&stamp](auto& m) {
        if constexpr (requires { m.sequence; }) {
          m.actor = stamp.actor;
          m.incarnation = stamp.incarnation;
          m.sequence = stamp.sequence;
        }
      },
      message);
}

}  // namespace

Result<std::uint32_t> ServerLink::await_grant(std::stop_token stop, const Meanwhile& meanwhile) {
  while (true) {
    if (auto going = go_on(stop, meanwhile); !going) return tl::unexpected(going.error());
    const auto allowed = may_send();
    if (!allowed) return tl::unexpected(allowed.error());
    if (*allowed) return unrolls_;
    if (auto heard = hear(Deadline::in(slice_)); !heard) return tl::unexpected(heard.error());
  }
}

Result<void> ServerLink::send(wire::Message message, std::stop_token stop,
                              const Meanwhile& meanwhile) {
  while (true) {
    if (const auto granted = await_grant(stop, meanwhile); !granted) {
      return tl::unexpected(granted.error());
    }
    put_on(next_stamp(), message);
    auto frame = wire::encode(message);
    const std::uint64_t conversation = joins_;
    while (joined() && joins_ == conversation) {
      const auto taken = hand_over(frame, Deadline::in(slice_));
      if (!taken) return tl::unexpected(taken.error());
      if (*taken) return {};
      if (auto going = go_on(stop, meanwhile); !going) return going;
      // A queue that stays full may be that of a server that has gone.
      if (auto tended = tend(); !tended) return tended;
    }
  }
}

Result<bool> ServerLink::try_send(const MakeMessage& make) {
  auto allowed = may_send();
  if (!allowed || !*allowed) return allowed;
  auto frame = wire::encode(make(next_stamp()));
  return hand_over(frame, Deadline::now());
}

Result<bool> ServerLink::may_send() {
  if (auto listened = listen(); !listened) return tl::unexpected(listened.error());
  if (joined() && sent_.get() < granted_) return true;
  return speak().map([] { return false; });
}

Result<bool> ServerLink::hand_over(wire::Frame& frame, Deadline deadline) {
  const auto sent = transport_->send(std::move(frame), deadline);
  if (sent) {
    sent_ = next_stamp().sequence;
    return true;
  }
  if (sent.error().code == Errc::kTimeout) return false;
  return end(sent.error().code, sent.error().detail).map([] { return false; });
}

}  // namespace pacml::actor
