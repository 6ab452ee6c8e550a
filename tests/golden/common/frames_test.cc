#include <string>
#include <variant>
#include <vector>

#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml::wire {
namespace {

// Fixed by hand: peers of another build must read these very bytes.
std::vector<Message> samples() {
  Experience experience{ActorId{3}, Incarnation{2}, Sequence{300}, {}};
  Unrolls& u = experience.unrolls;
  u.steps = 2;
  u.environments = 1;
  u.num_globals = 2;
  u.num_actions = 3;
  resize_columns(u, 2, 1, 1);
  u.graphs = {GraphHash{0x0102030405060708}, GraphHash{0x1112131415161718}};
  u.graph = {0, 1, 0};
  u.globals = {0.5F, 1, 1.5F, 2, 2.5F, 3};
  u.mask = {1, 0, 1, 1, 1, 0, 0, 1, 0};
  u.action = {2, 0};
  u.behaviour_log_prob = {-0.5F, -0.25F};
  u.reward = {0, -1};
  u.flags = {Unrolls::kTerminated, Unrolls::kTruncated};
  u.policy_version = {PolicyVersion{7}, PolicyVersion{8}};
  u.last_states = {{1}, {1}, {3.5F, 4}, {0, 0, 1}};
  u.episodes = {{-1.5, 4, 5, 3, 2}};

  Graph graph;
  graph.hash = GraphHash{0xfedcba9876543210};
  graph.num_nodes = 2;
  graph.num_edges = 1;
  graph.node_width = 2;
  graph.edge_width = 1;
  graph.node_features = {1, 2, 3, 4};
  graph.edge_features = {0.5F};
  graph.edge_src = {0};
  graph.edge_dst = {1};

  Insert insert{ActorId{3}, Incarnation{2}, Sequence{300}, {}};
  Transitions& t = insert.batch.transitions;
  t.shape = {2, 3};
  t.graphs = {GraphHash{0x0102030405060708}};
  const std::vector<float> globals = {0.5F, 1};
  const std::vector<float> next_globals = {1.5F, 2};
  const std::vector<std::uint8_t> mask = {1, 0, 1};
  const std::vector<std::uint8_t> next_mask = {1, 1, 0};
  t.append({PolicyVersion{7}, -1.5F, 0.25F, 0, 0, 2, 3}, {0, globals, mask},
           {0, next_globals, next_mask});
  insert.batch.priorities = {0.75F};
  insert.batch.episodes = u.episodes;
  const Samples drawn{5, t, {0x0000000700000003}, {0.125}, {1000, 2.5, 3000}, u.episodes};

  return {Hello{Role::kActor, ActorId{3}, Incarnation{2}, 0x1234, "a: 1\n", "run-1", "host", 4321,
                50, 32},
          Welcome{"run-1", Seed{42}, 4, PolicyVersion{9}, 16, 25},
          Refused{Refusal::kStale, "task: 1 here, 2 there", Incarnation{300}},
          experience,
          Credit{12, Sequence{8}, 25},
          GetWeights{PolicyVersion{9}},
          Weights{PolicyVersion{10}, 0xabcdef, {1.0F, -2.0F}},
          WeightsAnnouncement{PolicyVersion{10}, 0x99},
          NeedGraph{GraphHash{0xfedcba9876543210}},
          graph,
          Ping{1},
          Pong{70000},
          Goodbye{"stopped"},
          insert,
          Sample{5, 512},
          drawn,
          PriorityUpdates{{0x0000000700000003, 1}, {0.5F, 2}},
          GetStatus{},
          Status{"{}"}};
}

std::string hex(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<std::size_t>(b >> 4)];
    text += kDigits[std::to_integer<std::size_t>(b & std::byte{15})];
  }
  return text;
}

TEST_CASE("the bytes of every message stay as they are", "[golden][wire]") {
  std::string text;
  const std::vector<Message> messages = samples();
  REQUIRE(messages.size() == std::variant_size_v<Message>);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    REQUIRE(messages[i].index() == i);
    text += type_name(messages[i]);
    text += '\n';
    for (const Bytes& part : encode(messages[i]).parts) text += "  " + hex(part) + "\n";
  }
  testing::check_golden("tests/golden/common/frames.txt", text);
}

}  // namespace
}  // namespace pacml::wire
