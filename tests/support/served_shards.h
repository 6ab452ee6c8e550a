#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/transport/in_process.h"
#include "common/wire/codec.h"
#include "common/wire/graph_hash.h"
#include "replay/client.h"
#include "replay/server.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"
#include "tests/support/soon.h"

// Replay shards on threads of their own, actors that say exactly what a test wants, and a learner's
// client, all over in-process transports.

namespace pacml::testing {

inline const ObservationShape kShape = plain_shape(2, 3);

inline wire::Graph small_graph(float mark = 1) {
  wire::Graph graph;
  graph.num_nodes = 2;
  graph.num_edges = 1;
  graph.node_width = 1;
  graph.edge_width = 1;
  graph.node_features = {mark, 2};
  graph.edge_features = {3};
  graph.edge_src = {0};
  graph.edge_dst = {1};
  graph.hash = wire::hash_graph(graph);
  return graph;
}

// Transitions that are known by their returns.
inline PrioritizedTransitions marked(const std::vector<float>& marks,
                                     const std::vector<float>& priorities,
                                     const wire::Graph& graph = small_graph()) {
  PrioritizedTransitions out;
  Observations& observations = out.transitions.observations;
  observations = Observations(kShape);
  observations.set_graphs({graph.hash});
  const std::vector<float> globals{0.5F, -1};
  const std::vector<std::uint8_t> mask{1, 0, 1};
  for (const float mark : marks) {
    out.transitions.heads.push_back({PolicyVersion{1}, mark, 0.5F, 2, 1});
    for (int state = 0; state < 2; ++state) append_plain(observations, 0, globals, mask);
  }
  out.priorities = priorities;
  return out;
}

inline float mark_of(const Transitions& transitions, std::size_t i) {
  return transitions.heads[i].n_step_return;
}

// About small_graph(1) and small_graph(2).
inline serving::RunIdentity shard_run(const ObservationShape& shape = kShape) {
  serving::RunIdentity run;
  run.run_id = "run-1";
  run.config_hash = 7;
  run.config_text = "env:\n  topology: [4, 4, 2]\n";
  run.form.shape = shape;
  for (const float mark : {1.0F, 2.0F}) {
    const wire::Graph graph = small_graph(mark);
    run.form.graphs.emplace(graph.hash, graph.num_nodes);
  }
  return run;
}

inline wire::Hello shard_hello(wire::Role role, std::uint32_t actor = 0,
                               std::uint64_t incarnation = 100) {
  wire::Hello hello;
  hello.role = role;
  hello.actor = ActorId{actor};
  hello.incarnation = Incarnation{incarnation};
  hello.config_hash = shard_run().config_hash;
  hello.config_text = shard_run().config_text;
  return hello;
}

// Small enough that every test can fill it; priorities are weights as they are.
inline replay::ReplayConfig shard_config() {
  replay::ReplayConfig config;
  config.table.capacity = 1000;
  config.table.priority_exponent = 1;
  config.table.min_size = 1;
  config.priority_epsilon = 0;
  config.snapshot_seconds = 0;
  config.forget_seconds = 3600;  // a busy machine may keep a peer from speaking for a minute
  return config;
}

class ServedShard {
 public:
  explicit ServedShard(const replay::ReplayConfig& config = shard_config(),
                       std::uint32_t number = 0, std::optional<std::filesystem::path> snapshot = {},
                       serving::RunIdentity run = shard_run(), const Clock& clock = steady())
      : config_(config),
        number_(number),
        snapshot_(std::move(snapshot)),
        run_(std::move(run)),
        clock_(&clock) {
    transport_ = hub_.make_server();
    start();
  }
  ServedShard(const ServedShard&) = delete;
  ServedShard& operator=(const ServedShard&) = delete;
  ~ServedShard() { stop(); }

  void start() {
    server_ = std::make_unique<replay::Server>(run_, config_, Seed{1}, number_, snapshot_, *clock_);
    thread_ =
        std::jthread([this](const std::stop_token& stop) { server_->run(*transport_, stop); });
  }
  // In order: with a last snapshot, where there is a file for it.
  void stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    transport_->wake();
    thread_.join();
  }
  // After stop().
  [[nodiscard]] nlohmann::json last_status() const {
    return nlohmann::json::parse(server_->status());
  }
  [[nodiscard]] std::unique_ptr<transport::FrameClient> connect() { return hub_.connect(); }
  void request_snapshot() { server_->request_snapshot(); }
  [[nodiscard]] const serving::StatusBoard& board() const { return server_->board(); }

 private:
  replay::ReplayConfig config_;
  std::uint32_t number_;
  std::optional<std::filesystem::path> snapshot_;
  serving::RunIdentity run_;
  const Clock* clock_;
  transport::InProcessHub hub_{64};
  std::unique_ptr<transport::FrameServer> transport_;
  std::unique_ptr<replay::Server> server_;
  std::jthread thread_;
};

// One end of a conversation with a shard.
class ShardPeer {
 public:
  explicit ShardPeer(ServedShard& shard) : client_(shard.connect()) {}
  ShardPeer(ServedShard& shard, const wire::Hello& hello) : ShardPeer(shard) {
    say(hello);
    static_cast<void>(hear<wire::Welcome>());
  }

  void say(const wire::Message& message) { REQUIRE(client_->send(wire::encode(message), soon())); }
  void say_bytes(Bytes bytes) {
    const auto said = client_->send(wire::Frame{{std::move(bytes)}}, soon());
    REQUIRE(said);
  }
  // The next message of that type; others that come before are dropped.
  template <class M>
  M hear() {
    while (true) {
      auto frame = client_->receive(soon());
      REQUIRE(frame);
      auto message = wire::decode(*frame);
      REQUIRE(message);
      if (auto* const wanted = std::get_if<M>(&*message)) return std::move(*wanted);
    }
  }
  // As actor: hands in a message, and the graph where the shard asks for it. Once it is over,
  // everything that the rate limiter lets in is in the table.
  void insert(std::uint64_t sequence, PrioritizedTransitions batch,
              const wire::Hello& self = shard_hello(wire::Role::kActor),
              const wire::Graph& graph = small_graph()) {
    say(wire::Insert{self.actor, self.incarnation, Sequence{sequence}, std::move(batch)});
    say(wire::Ping{sequence});
    while (true) {
      auto frame = client_->receive(soon());
      REQUIRE(frame);
      const auto message = wire::decode(*frame);
      REQUIRE(message);
      if (std::holds_alternative<wire::NeedGraph>(*message)) say(graph);
      if (std::holds_alternative<wire::Pong>(*message)) break;
    }
    say(wire::Ping{sequence});  // behind the graph
    static_cast<void>(hear<wire::Pong>());
  }
  nlohmann::json status() {
    say(wire::GetStatus{});
    return nlohmann::json::parse(hear<wire::Status>().text);
  }

 private:
  std::unique_ptr<transport::FrameClient> client_;
};

// A learner's client on a thread of its own.
class ServedClient {
 public:
  ServedClient(std::span<ServedShard* const> shards, const replay::ClientConfig& config)
      : client_(shard_hello(wire::Role::kLearner), shards.size(), config, Seed{3}) {
    for (ServedShard* const shard : shards) {
      owned_.push_back(shard->connect());
      links_.push_back(owned_.back().get());
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { client_.run(links_, stop); });
  }
  ServedClient(const ServedClient&) = delete;
  ServedClient& operator=(const ServedClient&) = delete;
  ~ServedClient() {
    thread_.request_stop();
    for (auto* const link : links_) link->wake();
  }

  replay::Client& operator*() { return client_; }
  replay::Client* operator->() { return &client_; }
  replay::Batch next() {
    auto batch = client_.next({}, soon());
    REQUIRE(batch);
    return *std::move(batch);
  }

 private:
  replay::Client client_;
  std::vector<std::unique_ptr<transport::FrameClient>> owned_;
  std::vector<transport::FrameClient*> links_;
  std::jthread thread_;
};

}  // namespace pacml::testing
