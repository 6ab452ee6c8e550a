#include "model/network_config.h"

#include "tests/support/catch.h"

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
  spec.num_actions = 9;
  spec.num_globals = 4;
  spec.node_width = 5;
  spec.edge_width = 2;
  NetworkConfig config;
  config.rounds = 3;
  CHECK(make_shape(config, spec) == NetworkShape{config, 5, 2, 4, 9});
}

}  // namespace
}  // namespace pacml::model
