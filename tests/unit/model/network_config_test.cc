#include "model/network_config.h"

#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/plain_observations.h"

namespace pacml::model {
namespace {

TEST_CASE("the published network is valid") { CHECK(validate(NetworkConfig{}).empty()); }

TEST_CASE("every problem of a network's configuration is told, with its key") {
  NetworkConfig config;
  config.rounds = 0;
  config.message_width = 7;
  config.readout_width = 1'000'000;
  CHECK(
      validate(config) ==
      std::vector<std::string>{"rounds must be from 1 to 32, not 0",
                               "readout_width must be from 1 to 4096, not 1000000",
                               "message_width must be even (a node half and an edge half), not 7"});
}

TEST_CASE("a network takes its input widths from the environment") {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(4, 9, 5, 2);
  NetworkConfig config;
  config.rounds = 3;
  CHECK(make_shape(config, spec) == NetworkShape{config, {{5, 2}}, 4, 9});
  CHECK(input_shape(make_shape(config, spec)) == spec.observation.shape());
}

TEST_CASE("what a network does not read of a task is said in one sentence") {
  NetworkConfig config;
  CHECK(unreadable(config, plain_spec(4, 9)).empty());
  ObservationSpec spec = plain_spec(4, 9);
  std::string sentence;
  SECTION("a second graph") {
    spec.slots.push_back({.name = "cluster"});
    sentence =
        "network.head: dense reads one graph a decision, the task shows 2; candidates reads any "
        "number";
  }
  SECTION("nodes that change") {
    spec.slots[0].dynamic_width = 2;
    sentence =
        "network.head: dense reads no features of nodes that change, as those of \"graph\" do; "
        "candidates does";
  }
  SECTION("a focus") {
    spec.slots[0].focus = true;
    sentence =
        "network.head: dense does not read which node of \"graph\" a decision is about; candidates "
        "does";
  }
  SECTION("a varying number of candidates") {
    spec.candidates.vary = true;
    sentence =
        "network.head: dense has one output for each candidate, and their number varies in this "
        "task; candidates scores any number";
  }
  SECTION("features of candidates") {
    spec.candidates.features = {{"completion_time", "s"}};
    sentence =
        "network.head: dense does not read what the task shows of each candidate; candidates does";
  }
  SECTION("features of candidates that are computed where they are read") {
    spec.candidates.derived = true;
    sentence =
        "network.head: dense does not read what the task shows of each candidate; candidates does";
  }
  SECTION("candidates without features") {
    config.head = HeadKind::kCandidates;
    sentence =
        "network.head: candidates reads what a task shows of each candidate, and this one shows "
        "nothing; dense knows them by their places";
  }
  SECTION("nothing to find a value from") {
    config.head = HeadKind::kCandidates;
    spec.candidates.features = {{"completion_time", "s"}};
    spec.globals.clear();
    sentence =
        "network.head: candidates finds the value of a decision from its globals and graphs; this "
        "task has no globals, and no graph is read: network.encoders says which shall be";
  }
  SECTION("nodes of candidates") {
    spec.candidates.node_slot = 0;
    sentence =
        "network.head: dense does not read what the task shows of each candidate; candidates does";
  }
  SECTION("agents") {
    spec.agents = 2;
    sentence =
        "network.head: dense does not read which agent decides; candidates and perceptron do";
  }
  SECTION("nodes without features") {
    spec.slots[0].node_width = 0;
    sentence =
        "network.head: dense reads features of nodes, and those of \"graph\" have none; candidates "
        "and perceptron do without";
  }
  SECTION("edges without features") {
    spec.slots[0].edge_width = 0;
    sentence =
        "network.head: dense reads features of edges, and those of \"graph\" have none; candidates "
        "and perceptron do without";
  }
  SECTION("an encoder of nodes without features") {
    config.head = HeadKind::kPerceptron;
    config.encoders = {{.slot = "graph"}};
    spec.slots[0].node_width = 0;
    sentence =
        "network.encoders: nodes of the graph \"graph\" have no features that the one with slot: "
        "graph could read";
  }
  SECTION("a graph that differs, and no encoder for it") {
    config.head = HeadKind::kCandidates;
    spec.candidates.features = {{"completion_time", "s"}};
    spec.slots[0].dynamic_width = 2;
    sentence =
        "network.encoders: nothing reads the graph \"graph\", which differs from decision to "
        "decision; there must be one with slot: graph";
  }
  SECTION("candidates that are nodes, and no encoder for them") {
    config.head = HeadKind::kCandidates;
    spec.candidates.node_slot = 0;
    sentence =
        "network.encoders: candidates are nodes of the graph \"graph\", which nothing reads; there "
        "must be one with slot: graph";
  }
  SECTION("features of candidates that are known by their places") {
    config.head = HeadKind::kPerceptron;
    spec.candidates.features = {{"completion_time", "s"}};
    sentence =
        "network.head: perceptron does not read what the task shows of each candidate; candidates "
        "does";
  }
  SECTION("nothing to decide by") {
    config.head = HeadKind::kPerceptron;
    spec.globals.clear();
    sentence =
        "network.head: perceptron reads a decision's globals and graphs; this task has no globals, "
        "and no graph is read: network.encoders says which shall be";
  }
  SECTION("an encoder of a graph that is not there") {
    config.head = HeadKind::kCandidates;
    config.encoders = {{.slot = "cluster"}};
    spec.candidates.features = {{"completion_time", "s"}};
    sentence = "network.encoders: decisions of this task show no graph \"cluster\", but: graph";
  }
  CHECK(unreadable(config, spec) == std::vector{sentence});
}

TEST_CASE("with encoders a network reads graphs that change, nodes and agents") {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(0, 9, 5, 2);
  spec.observation.slots[0].dynamic_width = 3;
  spec.observation.slots[0].focus = true;
  spec.observation.slots.push_back({.name = "unread", .node_width = 2});
  spec.observation.candidates.node_slot = 0;
  spec.observation.agents = 4;
  NetworkConfig config;
  config.head = HeadKind::kCandidates;
  config.encoders = {{.slot = "graph", .width = 10}};
  REQUIRE(unreadable(config, spec.observation).empty());
  const NetworkShape shape = make_shape(config, spec);
  // Mean, maximum and focus of the graph, and the agents; the candidate's node before them.
  CHECK(shape.context_width() == 34);
  CHECK(shape.candidate_inputs() == 44);
  CHECK(shape.situation_inputs() == 34);
  CHECK(input_shape(shape) == spec.observation.shape());

  // Without being told who decides, the same weights serve any number of agents.
  config.agent_identity = false;
  const NetworkShape alike = make_shape(config, spec);
  CHECK(alike.context_width() == 30);
  CHECK(alike.candidate_inputs() == 40);
  CHECK(input_shape(alike) == spec.observation.shape());
  spec.observation.agents = 7;
  CHECK(make_layout(make_shape(config, spec)) == make_layout(alike));
}

TEST_CASE("a perceptron reads globals, encoded graphs and who decides") {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(3, 9, 5, 2);
  spec.observation.slots[0].dynamic_width = 3;
  spec.observation.slots[0].focus = true;
  spec.observation.agents = 4;
  NetworkConfig config;
  config.head = HeadKind::kPerceptron;
  config.encoders = {{.slot = "graph", .kind = EncoderKind::kTwoWay, .width = 10}};
  REQUIRE(unreadable(config, spec.observation).empty());
  const NetworkShape shape = make_shape(config, spec);
  // Both passes of the focus, its ancestors, its descendants and the others; globals and agents.
  CHECK(shape.context_width() == 84);
  CHECK(shape.perceptron_inputs() == 87);
  CHECK(input_shape(shape) == spec.observation.shape());
  config.perceptron.second_width = 0;
  CHECK(validate(config.perceptron) ==
        std::vector<std::string>{"second_width must be from 1 to 4096, not 0"});
}

TEST_CASE("encoders that cannot be are refused in one sentence") {
  NetworkConfig config;
  config.head = HeadKind::kCandidates;
  std::vector<std::string> problems;
  SECTION("two for a graph") {
    config.encoders = {{.slot = "job"}, {.slot = "job"}};
    problems = {"encoders: two are for the slot \"job\", one is enough"};
  }
  SECTION("of the published network") {
    config.head = HeadKind::kDense;
    config.encoders = {{.slot = "job"}};
    problems = {
        "encoders are read by head: candidates and head: perceptron; dense has one of its own, "
        "whose sizes are rounds to node_width"};
  }
  CHECK(validate(config) == problems);
  CHECK(validate(EncoderConfig{.slot = "", .width = 0, .blocks = 33}) ==
        std::vector<std::string>{"slot must name one of the graphs that the task's decisions show",
                                 "width must be from 1 to 1024, not 0",
                                 "blocks must be from 1 to 32, not 33"});
}

TEST_CASE("a network that reads candidates takes their widths from the task's view of them") {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(4, 9, 5, 2);
  spec.observation.candidates.features = {{"a", "1"}, {"b", "1"}, {"c", "1"}};
  NetworkConfig config;
  config.head = HeadKind::kCandidates;
  REQUIRE(unreadable(config, spec.observation).empty());
  const NetworkShape shape = make_shape(config, spec);
  CHECK(shape.candidate_inputs() == 3);
  CHECK(shape.situation_inputs() == 4);
  CHECK(input_shape(shape) == spec.observation.shape());
  config.candidates.width = 0;
  CHECK(validate(config.candidates) ==
        std::vector<std::string>{"width must be from 1 to 4096, not 0"});
}

}  // namespace
}  // namespace pacml::model
