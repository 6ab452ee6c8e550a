#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actor/learner_link.h"
#include "common/wire/codec.h"
#include "env/graph_features.h"
#include "env/graph_message.h"
#include "learner/serving/experience_server.h"
#include "tests/support/catch.h"
#include "tests/support/sequence_builder.h"
#include "tests/support/soon.h"

// A learner's serving end on a thread of its own, and peers to talk to it, over any transport of
// transport_pairs.h.

namespace pacml::testing {

// Two small graphs that differ.
inline std::vector<env::GraphFeaturesPtr> sample_graphs() {
  std::vector<env::GraphFeaturesPtr> graphs;
  for (const float mark : {1.0F, 2.0F}) {
    auto graph = std::make_shared<env::GraphFeatures>();
    graph->num_nodes = 2;
    graph->num_edges = 1;
    graph->node_width = 2;
    graph->edge_width = 1;
    graph->node_features = {mark, 0, -mark, 1};
    graph->edge_features = {mark};
    graph->edge_src = {0};
    graph->edge_dst = {1};
    graph->hash = env::hash_features(*graph);
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

inline serving::RunIdentity sample_run() {
  serving::RunIdentity run;
  run.run_id = "run-1";
  run.run_seed = Seed{42};
  run.config_text = "env:\n  topology: [4, 4, 2]\nnetwork:\n  rounds: 2\n";
  run.config_hash = 7;
  run.max_policy_lag = 20;
  run.form.shape = plain_shape(2, 3);
  for (const auto& graph : sample_graphs()) {
    run.form.graphs.emplace(graph->hash, static_cast<std::uint32_t>(graph->num_nodes));
  }
  return run;
}

inline wire::Hello sample_hello(std::uint32_t actor = 0, std::uint64_t incarnation = 100) {
  wire::Hello hello;
  hello.actor = ActorId{actor};
  hello.incarnation = Incarnation{incarnation};
  hello.config_hash = sample_run().config_hash;
  hello.config_text = sample_run().config_text;
  hello.host = "here";
  return hello;
}

// Recognisable by its first reward.
inline Sequences sample_sequences(float mark, const env::GraphFeatures& graph) {
  Sequences sequences = plain_sequences(2, 3, graph.hash);
  sequences.reward[0] = mark;
  return sequences;
}

// ... by an actor that makes them at once: three unrolls of two decisions.
inline wire::Hello able_hello(std::uint32_t actor) {
  auto hello = sample_hello(actor);
  hello.unroll_length = 2;
  hello.most_unrolls = 3;
  return hello;
}

// Of a learner that wants so many decisions to be under way, and never more.
inline learner::ExperienceServerConfig window_of(std::uint64_t decisions) {
  learner::ExperienceServerConfig config;
  config.work.least = decisions;
  config.work.most = decisions;
  // Nobody's grant goes to another because this machine is slow.
  config.work.patience = std::chrono::hours(1);
  return config;
}

inline model::Parameters sample_weights(std::uint64_t version) {
  return {PolicyVersion{version}, 99, std::vector<float>(5, static_cast<float>(version))};
}

// A server transport that can be cut off: what it is asked to send then vanishes, as from a process
// that was killed. It can also lose words of its end.
class Severable final : public transport::FrameServer {
 public:
  explicit Severable(transport::FrameServer& inner) : inner_(&inner) {}
  void sever() { severed_ = true; }
  void lose_goodbyes(int goodbyes) { to_lose_ = goodbyes; }
  [[nodiscard]] int goodbyes_lost() const { return lost_; }
  Result<transport::Incoming> receive(Deadline deadline) override {
    return inner_->receive(deadline);
  }
  Result<void> send(const transport::PeerId& peer, wire::Frame&& frame) override {
    if (severed_) return fail(Errc::kDisconnected, "severed");
    if (lost_ < to_lose_ && is_goodbye(frame)) {
      ++lost_;
      return {};
    }
    return inner_->send(peer, std::move(frame));
  }
  void wake() override { inner_->wake(); }

 private:
  static bool is_goodbye(const wire::Frame& frame) {
    const auto message = wire::decode(frame);
    const auto* const refused = message ? std::get_if<wire::Refused>(&*message) : nullptr;
    return refused != nullptr && refused->why == wire::Refusal::kStopping;
  }

  transport::FrameServer* inner_;
  std::atomic<bool> severed_{false};
  std::atomic<int> to_lose_{0};
  std::atomic<int> lost_{0};
};

// A peer that says exactly what a test wants.
class RawPeer {
 public:
  explicit RawPeer(std::unique_ptr<transport::FrameClient> client) : client_(std::move(client)) {}

  void say(const wire::Message& message) { REQUIRE(client_->send(wire::encode(message), soon())); }
  void say_bytes(Bytes bytes) { REQUIRE(client_->send(wire::Frame{{std::move(bytes)}}, soon())); }
  void say_experience(std::uint64_t sequence, const env::GraphFeatures& graph,
                      const wire::Hello& self = sample_hello()) {
    say(wire::Experience{self.actor, self.incarnation, Sequence{sequence},
                         sample_sequences(static_cast<float>(sequence), graph)});
  }
  wire::Message hear_any() {
    auto frame = client_->receive(soon());
    REQUIRE(frame);
    auto message = wire::decode(*frame);
    REQUIRE(message);
    return *std::move(message);
  }
  // The next message of type M; others are passed over.
  template <class M>
  M hear() {
    const Deadline deadline = soon();
    while (true) {
      auto frame = client_->receive(deadline);
      REQUIRE(frame);
      auto message = wire::decode(*frame);
      REQUIRE(message);
      if (auto* wanted = std::get_if<M>(&*message)) return std::move(*wanted);
    }
  }
  // Every message that has come, once the server has handled all that was said. Asked again where
  // no answer comes: the queue may have had no room for it.
  std::vector<wire::Message> hear_all() {
    constexpr std::chrono::milliseconds kPatience{200};
    const Deadline deadline = soon();
    say(wire::Ping{++mark_});
    std::vector<wire::Message> heard;
    while (true) {
      auto frame = client_->receive(Deadline::in(kPatience));
      if (!frame) {
        REQUIRE_FALSE(deadline.expired());
        say(wire::Ping{mark_});
        continue;
      }
      auto message = wire::decode(*frame);
      REQUIRE(message);
      const auto* const pong = std::get_if<wire::Pong>(&*message);
      if (pong == nullptr) heard.push_back(std::move(*message));
      if (pong != nullptr && pong->nonce == mark_) return heard;
    }
  }

 private:
  std::unique_ptr<transport::FrameClient> client_;
  std::uint64_t mark_ = 0;  // of the newest ping
};

// `Pair`: a transport of transport_pairs.h.
template <class Pair>
class ServedLearner {
 public:
  explicit ServedLearner(const learner::ExperienceServerConfig& config = {},
                         const serving::RunIdentity& run = sample_run(),
                         const Clock& clock = steady())
      : config_(config), run_(run), clock_(&clock) {
    // A busy machine may keep a peer from speaking for a minute: silence is for tests of silence.
    if (config_.silence == learner::ExperienceServerConfig{}.silence) {
      config_.silence = std::chrono::hours(1);
    }
    router_ = pair_.make_server();
    publisher_ = pair_.make_publisher();
    start();
  }
  ServedLearner(const ServedLearner&) = delete;
  ServedLearner& operator=(const ServedLearner&) = delete;
  ~ServedLearner() { stop(); }

  [[nodiscard]] learner::ExperienceServer& server() { return *server_; }

  // Tells the actors, as a learner does that ends in order.
  void stop() {
    if (!thread_.joinable()) return;
    begin_to_stop();
    thread_.join();
  }
  void begin_to_stop() {
    thread_.request_stop();
    router_->wake();
  }
  // Of a learner that stops: so many words of its end do not arrive.
  void lose_goodbyes(int goodbyes) { severable_->lose_goodbyes(goodbyes); }
  [[nodiscard]] int goodbyes_lost() const { return severable_->goodbyes_lost(); }
  void wait_for_lost_goodbyes(int goodbyes) const {
    const Deadline deadline = soon();
    while (goodbyes_lost() < goodbyes && !deadline.expired()) std::this_thread::yield();
    REQUIRE(goodbyes_lost() >= goodbyes);
  }
  // Another learner in the place of this one, which said no word of goodbye and whose memory is
  // lost.
  void kill_and_restart() {
    severable_->sever();
    stop();
    start();
  }

  [[nodiscard]] RawPeer raw_peer() { return RawPeer(pair_.connect()); }

  // A real actor's end, with transports of its own.
  struct Actor {
    std::unique_ptr<transport::FrameClient> client;
    std::unique_ptr<transport::FrameSubscriber> announcements;
    actor::LearnerLink link;
  };
  [[nodiscard]] std::unique_ptr<Actor> actor(const wire::Hello& hello = sample_hello(),
                                             const actor::LinkConfig& config = {},
                                             const Clock& clock = steady()) {
    auto client = pair_.connect();
    auto announcements = pair_.subscribe();
    auto& to_learner = *client;
    auto& from_learner = *announcements;
    return std::unique_ptr<Actor>(
        new Actor{std::move(client), std::move(announcements),
                  actor::LearnerLink(to_learner, from_learner, hello, graphs_, config, clock)});
  }
  // What comes next from `actor`, which listens meanwhile, as it does between two messages: it is
  // asked for graphs.
  learner::ReceivedSequences next_from(Actor& actor) {
    const Deadline deadline = soon();
    Result<learner::ReceivedSequences> received = fail(Errc::kTimeout);
    while (!received && !deadline.expired()) {
      static_cast<void>(actor.link.newest_parameters());
      received = server_->pop({}, Deadline::in(std::chrono::milliseconds(5)));
    }
    REQUIRE(received);
    return *std::move(received);
  }
  [[nodiscard]] const env::GraphFeatures& graph(std::size_t i) const { return *graphs_[i]; }

  // Waits until the counters say so; the last ones.
  template <class Condition>
  serving::ServerCounters counters_when(Condition holds) {
    const Deadline deadline = soon();
    while (!holds(server_->counters()) && !deadline.expired()) std::this_thread::yield();
    const auto counters = server_->counters();
    REQUIRE(holds(counters));
    return counters;
  }

 private:
  void start() {
    server_ = std::make_unique<learner::ExperienceServer>(run_, config_, nullptr, *clock_);
    severable_ = std::make_unique<Severable>(*router_);
    thread_ = std::jthread(
        [this](const std::stop_token& stop) { server_->run(*severable_, *publisher_, stop); });
  }

  learner::ExperienceServerConfig config_;
  serving::RunIdentity run_;
  const Clock* clock_;
  std::vector<env::GraphFeaturesPtr> graphs_ = sample_graphs();
  // A server drops what a peer's queue has no room for, and the transport's thread may be slow to
  // empty it: answers that a test waits for must find room, whatever else was said.
  static constexpr int kQueue = 64;
  Pair pair_{kQueue};
  std::unique_ptr<transport::FrameServer> router_;
  std::unique_ptr<transport::FramePublisher> publisher_;
  std::unique_ptr<learner::ExperienceServer> server_;
  std::unique_ptr<Severable> severable_;
  std::jthread thread_;
};

}  // namespace pacml::testing
