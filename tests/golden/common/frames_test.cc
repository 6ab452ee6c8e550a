#include <string>
#include <variant>
#include <vector>

#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/plain_observations.h"

namespace pacml::wire {
namespace {

// Fixed by hand: peers of another build must read these very bytes.
std::vector<Message> samples() {
  Experience experience{ActorId{3}, Incarnation{2}, Sequence{300}, {}};
  Sequences& s = experience.sequences;
  s.lengths = {2};
  s.first_step = {2};
  s.observations = Observations(plain_shape(2, 3));
  s.observations.set_graphs({GraphHash{0x0102030405060708}, GraphHash{0x1112131415161718}});
  using Globals = std::vector<float>;
  using Mask = std::vector<std::uint8_t>;
  append_plain(s.observations, 0, Globals{0.5F, 1}, Mask{1, 0, 1});
  append_plain(s.observations, 1, Globals{1.5F, 2}, Mask{1, 1, 0});
  append_plain(s.observations, 0, Globals{2.5F, 3}, Mask{0, 1, 0});
  append_plain(s.observations, 1, Globals{3.5F, 4}, Mask{0, 0, 1});
  s.action = {2, 0};
  s.behaviour_log_prob = {-0.5F, -0.25F};
  s.reward = {0, -1};
  s.flags = {Sequences::kTerminated, Sequences::kTruncated};
  s.elapsed = {1, 2.5F};
  s.action_values = {0.125F, -2, 1.5F, -0.75F};
  s.versions = {{PolicyVersion{7}, 1}, {PolicyVersion{8}, 1}};
  s.episodes = {{-1.5, 4, {0.25, 3}}};

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
  // Of the widest kind: two graphs, the second with features that change and a focus, candidates
  // whose number varies, which have a feature and name a node, and two agents.
  Transitions& t = insert.batch.transitions;
  ObservationShape shape = plain_shape(1, 3);
  shape.slots.push_back({.dynamic_width = 2, .focus = true});
  shape.candidates_vary = shape.candidates_name_nodes = true;
  shape.candidate_width = 1;
  shape.agents = 2;
  t.observations = Observations(shape);
  t.observations.set_graphs({GraphHash{0x0102030405060708}});
  for (const std::uint32_t count : {2U, 3U}) {
    const std::vector<std::uint32_t> nodes = {count - 1};
    const ObservationRow row = t.observations.append({.candidates = count, .nodes = nodes});
    row.focus[0] = count + 1;
    row.agent[0] = static_cast<std::uint16_t>(count % 2);
    row.globals[0] = static_cast<float>(count);
    for (float& value : row.node_features) value = 0.5F;
    for (std::uint32_t c = 0; c < count; ++c) {
      row.candidates[c] = static_cast<float>(c);
      row.candidate_nodes[c] = 7 + c;
      row.mask[c] = 1;
    }
  }
  t.heads = {{PolicyVersion{7}, -1.5F, 0.25F, 1, 3}};
  insert.batch.priorities = {0.75F};
  insert.batch.episodes = s.episodes;
  const Samples drawn{5, t, {0x0000000700000003}, {0.125}, {1000, 2.5, 3000}, s.episodes};

  return {Hello{Role::kActor, ActorId{3}, Incarnation{2}, 0x1234, "a: 1\n", "run-1", "host", 4321,
                50, 32},
          Welcome{"run-1", Seed{42}, 4, PolicyVersion{9}, 16, 25, Incarnation{77}},
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
