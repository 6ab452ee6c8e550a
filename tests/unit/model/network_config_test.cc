#include "model/network_config.h"

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
  CHECK(make_shape(config, spec) == NetworkShape{config, 5, 2, 4, 9});
  CHECK(input_shape(make_shape(config, spec)) == spec.observation.shape());
}

TEST_CASE("what a network does not read of a task is said in one sentence") {
  NetworkConfig config;
  CHECK(unreadable(config, plain_spec(4, 9)).empty());
  ObservationSpec spec = plain_spec(4, 9);
  std::string sentence;
  SECTION("a second graph") {
    spec.slots.push_back({.name = "cluster"});
    sentence = "the network reads one graph a decision, the task shows 2";
  }
  SECTION("nodes that change") {
    spec.slots[0].dynamic_width = 2;
    sentence = "the network reads no features of nodes that change, as those of \"graph\" do";
  }
  SECTION("a focus") {
    spec.slots[0].focus = true;
    sentence = "the network does not read which node of \"graph\" a decision is about";
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
        "network.head: candidates finds the value of a decision from its globals, and this task "
        "has none";
  }
  SECTION("nodes of candidates") {
    spec.candidates.node_slot = 0;
    sentence = "the network does not read which node a candidate is";
  }
  SECTION("agents") {
    spec.agents = 2;
    sentence = "the network does not read which agent decides";
  }
  CHECK(unreadable(config, spec) == std::vector{sentence});
}

TEST_CASE("a network that reads candidates takes their widths from the task's view of them") {
  env::EnvironmentSpec spec;
  spec.observation = plain_spec(4, 9, 5, 2);
  spec.observation.candidates.features = {{"a", "1"}, {"b", "1"}, {"c", "1"}};
  NetworkConfig config;
  config.head = HeadKind::kCandidates;
  REQUIRE(unreadable(config, spec.observation).empty());
  const NetworkShape shape = make_shape(config, spec);
  CHECK(shape.candidate_features() == 3);
  CHECK(shape.situation_features() == 4);
  CHECK(input_shape(shape) == spec.observation.shape());
  config.candidates.width = 0;
  CHECK(validate(config.candidates) ==
        std::vector<std::string>{"width must be from 1 to 4096, not 0"});
}

}  // namespace
}  // namespace pacml::model
