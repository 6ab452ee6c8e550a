#include "bench/replay_service_bench.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.h"
#include "common/private_folder.h"
#include "common/rng.h"
#include "common/thread_group.h"
#include "common/transport/dealer.h"
#include "common/transport/key_files.h"
#include "common/transport/router.h"
#include "common/wire/codec.h"
#include "common/wire/graph_hash.h"
#include "replay/client.h"
#include "replay/server.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRows = 1600;  // 32 environments, 50 steps
constexpr std::uint64_t kMessages = 250;
constexpr int kRounds = 5;
constexpr int kServedBatches = 600;
constexpr std::uint32_t kBatchSize = 512;
constexpr std::chrono::seconds kPatience{30};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

wire::Graph make_graph() {
  wire::Graph graph;
  graph.num_nodes = graph.node_width = graph.edge_width = 1;
  graph.node_features = {1};
  graph.hash = wire::hash_graph(graph);
  return graph;
}

ObservationShape shape_of_rows() { return plain_shape(17, 17); }

serving::RunIdentity make_run() {
  serving::RunIdentity run;
  const wire::Graph graph = make_graph();
  run.form = {.shape = shape_of_rows(), .graphs = {{graph.hash, graph.num_nodes}}};
  return run;
}

PrioritizedTransitions make_batch() {
  PrioritizedTransitions batch;
  Observations& observations = batch.transitions.observations;
  observations = Observations(shape_of_rows(), 2 * kRows);
  observations.set_graphs({make_graph().hash});
  Rng rng(Seed{1});
  for (std::size_t i = 0; i < kRows; ++i) {
    for (const std::size_t state : {Transitions::state(i), Transitions::next_state(i)}) {
      const ObservationRow row = observations.row(state);
      for (float& value : row.globals) value = static_cast<float>(rng.uniform());
      for (std::uint8_t& valid : row.mask) valid = 1;
    }
    const auto action = static_cast<std::int32_t>(rng.below(17));
    batch.transitions.heads.push_back({PolicyVersion{i}, 1, 0.9F, action, 3});
    batch.priorities.push_back(static_cast<float>(rng.uniform()));
  }
  return batch;
}

// A shard on a thread of its own, and its address.
class Shard {
 public:
  explicit Shard(std::optional<transport::Encryption> encryption)
      : context_(1, std::move(encryption)),
        router_(std::make_unique<transport::Router>(
            context_, transport::Endpoint::parse("tcp://127.0.0.1:*"))),
        address_(router_->endpoint()) {
    replay::ReplayConfig config;
    config.table.capacity = 1 << 19;
    config.table.min_size = 1;
    config.inserts_per_sample = 0;  // what a shard can do is measured, not what a learner needs
    server_ = std::make_unique<replay::Server>(make_run(), config, Seed{1}, 0, std::nullopt);
    threads_.spawn("bench-shard",
                   [this](const std::stop_token& stop) { server_->run(*router_, stop); });
  }
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard() {
    threads_.request_stop();
    router_->wake();
    threads_.join();
  }
  [[nodiscard]] std::unique_ptr<transport::Dealer> connect() {
    return std::make_unique<transport::Dealer>(context_, address_);
  }

 private:
  transport::Context context_;
  std::unique_ptr<transport::Router> router_;
  transport::Endpoint address_;
  std::unique_ptr<replay::Server> server_;
  ThreadGroup threads_;
};

// An actor that has its messages ready and hands in as fast as its credits allow.
class Inserter {
 public:
  explicit Inserter(Shard& shard) : link_(shard.connect()), batch_(make_batch()) {
    send(wire::encode(wire::Hello{}));
    while (credits_ == 0) hear();
    insert(next_frames(1));  // the graph crosses the wire once
  }

  // Transitions per second.
  double measure() {
    const auto frames = next_frames(kMessages);
    const auto start = Clock::now();
    insert(frames);
    return static_cast<double>(kMessages * kRows) / seconds_since(start);
  }

 private:
  [[nodiscard]] std::vector<wire::Frame> next_frames(std::uint64_t count) {
    std::vector<wire::Frame> frames;
    for (std::uint64_t i = 1; i <= count; ++i) {
      frames.push_back(
          wire::encode(wire::Insert{ActorId{0}, Incarnation{0}, Sequence{inserted_ + i}, batch_}));
    }
    return frames;
  }

  void insert(std::vector<wire::Frame> frames) {
    const std::uint64_t window = credits_ - inserted_;
    for (wire::Frame& frame : frames) {
      while (inserted_ >= credits_) hear();
      send(std::move(frame));
      ++inserted_;
    }
    while (credits_ - inserted_ < window) hear();  // all of them are in the table
  }

  void send(wire::Frame&& frame) {
    PACML_CHECK(link_->send(std::move(frame), Deadline::in(kPatience)).has_value(),
                "the shard reads");
  }

  void hear() {
    const auto frame = link_->receive(Deadline::in(kPatience));
    PACML_CHECK(frame.has_value(), "the shard answers");
    const auto message = wire::decode(*frame);
    PACML_CHECK(message.has_value(), "what a shard says decodes");
    if (const auto* welcome = std::get_if<wire::Welcome>(&*message)) credits_ = welcome->credits;
    if (const auto* credit = std::get_if<wire::Credit>(&*message)) credits_ = credit->granted;
    if (std::holds_alternative<wire::NeedGraph>(*message)) send(wire::encode(make_graph()));
  }

  std::unique_ptr<transport::Dealer> link_;
  PrioritizedTransitions batch_;
  std::uint64_t credits_ = 0;
  std::uint64_t inserted_ = 0;  // messages
};

double measure_samples(Shard& shard) {
  replay::Client client(wire::Hello{}, 1, {.batch_size = kBatchSize}, Seed{2});
  ThreadGroup threads;
  threads.spawn("bench-client", [&](const std::stop_token& stop) {
    const auto link = shard.connect();
    transport::FrameClient* const links[] = {link.get()};
    client.run(links, stop);
  });
  PACML_CHECK(client.next({}, Deadline::in(kPatience)).has_value(), "the shard is drawn from");
  const auto start = Clock::now();
  for (int n = 0; n < kServedBatches; ++n) {
    const auto batch = client.next({}, Deadline::in(kPatience));
    PACML_CHECK(batch.has_value(), "the shard is drawn from");
    client.report_priorities(batch->ticket, std::vector<float>(kBatchSize, 0.5F));
  }
  const double rate = kServedBatches * static_cast<double>(kBatchSize) / seconds_since(start);
  threads.request_stop();
  threads.join();
  return rate;
}

}  // namespace

Figures run_replay_service_bench() {
  const PrivateFolder scratch("pacml-bench");
  const std::string keys = scratch / "keys";
  transport::create_key_folder(keys);
  Shard clear({});
  // The clients use the server's keys, which are in its list as well.
  Shard encrypted(transport::server_encryption(keys));
  Inserter to_clear(clear);
  Inserter to_encrypted(encrypted);
  std::vector<double> rates;
  std::vector<double> curve_rates;
  for (int round = 0; round < kRounds; ++round) {
    rates.push_back(to_clear.measure());
    curve_rates.push_back(to_encrypted.measure());
  }
  std::vector<double> samples;
  std::vector<double> curve_samples;
  for (int round = 0; round < kRounds; ++round) {
    samples.push_back(measure_samples(clear));
    curve_samples.push_back(measure_samples(encrypted));
  }
  const double rate = median_of(rates);
  const double curve_rate = median_of(curve_rates);
  return {{"transitions_per_second", rate},
          {"curve_transitions_per_second", curve_rate},
          {"curve_transitions_ratio", curve_rate / rate},
          {"samples_per_second", median_of(samples)},
          {"curve_samples_per_second", median_of(curve_samples)}};
}

}  // namespace pacml::bench
