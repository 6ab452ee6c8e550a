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
  CHECK(unreadable(plain_spec(4, 9)).empty());
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
        "the network has one output for each candidate, and their number varies in this task";
  }
  SECTION("features of candidates") {
    spec.candidates.features = {{"completion_time", "s"}};
    sentence = "the network does not read what the task shows of each candidate";
  }
  SECTION("nodes of candidates") {
    spec.candidates.node_slot = 0;
    sentence = "the network does not read what the task shows of each candidate";
  }
  SECTION("agents") {
    spec.agents = 2;
    sentence = "the network does not read which agent decides";
  }
  CHECK(unreadable(spec) == std::vector{sentence});
}

}  // namespace
}  // namespace pacml::model
