#include "bench/transport_bench.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>

#include "common/check.h"
#include "common/private_folder.h"
#include "common/rng.h"
#include "common/thread_group.h"
#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "common/wire/codec.h"

namespace pacml::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMessages = 300;
constexpr std::chrono::seconds kPatience{30};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Sequences make_sequences() {
  Sequences sequences;
  resize_columns(sequences, {.sequences = 32, .decisions = std::size_t{50} * 32});
  for (std::uint32_t& length : sequences.lengths) length = 50;
  sequences.append_version(PolicyVersion{0}, sequences.num_decisions());
  Rng rng(Seed{1});
  std::vector<GraphHash> graphs;
  for (int g = 0; g < 5; ++g) graphs.emplace_back(rng.next());
  sequences.observations = Observations(plain_shape(17, 17), sequences.num_rows());
  sequences.observations.set_graphs(graphs);
  for (std::size_t i = 0; i < sequences.num_rows(); ++i) {
    const ObservationRow row = sequences.observations.row(i);
    row.graph[0] = static_cast<std::uint16_t>(rng.below(graphs.size()));
    for (float& value : row.globals) value = static_cast<float>(rng.uniform());
    for (std::uint8_t& valid : row.mask) valid = 1;
  }
  for (auto& action : sequences.action) action = static_cast<std::int16_t>(rng.below(17));
  for (auto& log_prob : sequences.behaviour_log_prob) log_prob = -std::log(17.0F);
  return sequences;
}

wire::Experience make_message(std::uint64_t sequence) {
  return {ActorId{0}, Incarnation{1}, Sequence{sequence}, make_sequences()};
}

// Decisions per second through one connection.
double measure(const transport::Endpoint& bind_to) {
  transport::Context context;
  transport::Router router(context, bind_to);
  const auto address = router.endpoint();
  ThreadGroup threads;
  threads.spawn("bench-actor", [&](const std::stop_token& stop) {
    transport::Dealer dealer(context, address);
    const wire::Experience message = make_message(1);
    // One more than is counted: the first one opens the connection.
    for (int i = 0; i <= kMessages && !stop.stop_requested(); ++i) {
      PACML_CHECK(dealer.send(wire::encode(message), Deadline::in(kPatience)).has_value(),
                  "the receiver stopped reading");
    }
    // The socket lives until everything has been read.
    static_cast<void>(dealer.receive(Deadline::in(kPatience)));
  });
  Clock::time_point start;
  transport::PeerId peer;
  std::size_t decisions = 0;
  for (int i = 0; i <= kMessages; ++i) {
    auto incoming = router.receive(Deadline::in(kPatience));
    PACML_CHECK(incoming.has_value(), "the sender stopped sending");
    const auto message = wire::decode(incoming->frame);
    PACML_CHECK(message.has_value(), "what was encoded decodes");
    if (i == 0) {
      start = Clock::now();
      peer = incoming->peer;
    } else {
      decisions += std::get<wire::Experience>(*message).sequences.num_decisions();
    }
  }
  const double elapsed = seconds_since(start);
  PACML_CHECK(router.send(peer, wire::encode(wire::Pong{1})).has_value(),
              "the peer is still there");
  threads.join();
  return static_cast<double>(decisions) / elapsed;
}

}  // namespace

Figures run_transport_bench() {
  const wire::Message message = make_message(1);
  const auto frame = wire::encode(message);
  std::size_t bytes = 0;
  for (const auto& part : frame.parts) bytes += part.size();
  std::vector<double> encode;
  std::vector<double> decode;
  for (int i = 0; i < 50; ++i) {
    const auto start = Clock::now();
    const auto encoded = wire::encode(message);
    encode.push_back(seconds_since(start));
    const auto middle = Clock::now();
    PACML_CHECK(wire::decode(encoded).has_value(), "what was encoded decodes");
    decode.push_back(seconds_since(middle));
  }
  const PrivateFolder scratch("pacml-bench");
  const double ipc = measure(transport::Endpoint::parse("ipc://" + (scratch / "socket").string()));
  return {{"encode_seconds", median_of(encode)},
          {"decode_seconds", median_of(decode)},
          {"bytes_per_decision", static_cast<double>(bytes) / (50.0 * 32.0)},
          {"ipc_decisions_per_second", ipc},
          {"tcp_decisions_per_second", measure(transport::Endpoint::parse("tcp://127.0.0.1:*"))}};
}

}  // namespace pacml::bench
