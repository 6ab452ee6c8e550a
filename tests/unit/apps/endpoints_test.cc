#include "apps/run/endpoints.h"

#include "common/result.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;
using transport::Endpoint;

TEST_CASE("a run's addresses follow from its learner's") {
  const auto tcp = Endpoint::parse("tcp://*:5555");
  CHECK(announcement_endpoint(tcp).str() == "tcp://*:5556");
  CHECK(shard_endpoint(tcp, 0).str() == "tcp://*:5557");
  CHECK(shard_endpoint(tcp, 3).str() == "tcp://*:5560");
  CHECK(learner_endpoint(tcp, 4, 0).str() == "tcp://*:5555");
  CHECK(learner_endpoint(tcp, 4, 1).str() == "tcp://*:5561");
  CHECK(learner_endpoint(tcp, 4, 2).str() == "tcp://*:5563");
  CHECK(board_endpoint(tcp, 4, 3).str() == "tcp://*:5565");
  const auto ipc = Endpoint::parse("ipc:///tmp/run");
  CHECK(announcement_endpoint(ipc).str() == "ipc:///tmp/run-weights");
  CHECK(shard_endpoint(ipc, 3).str() == "ipc:///tmp/run-replay-3");
  CHECK(learner_endpoint(ipc, 4, 1).str() == "ipc:///tmp/run-learner-1");
  CHECK(board_endpoint(ipc, 4, 3).str() == "ipc:///tmp/run-board");
}

TEST_CASE("an address without room for the others is refused") {
  CHECK_NOTHROW(announcement_endpoint(Endpoint::parse("tcp://h:65534")));
  CHECK_THROWS_WITH(announcement_endpoint(Endpoint::parse("tcp://h:65535")),
                    "tcp://h:65535: the port must be a number in 1..65534 (the next one announces "
                    "weights)");
  CHECK_THROWS_AS(shard_endpoint(Endpoint::parse("tcp://h:65530"), 4), UserError);
  CHECK_THROWS_AS(announcement_endpoint(Endpoint::parse("tcp://h:*")), UserError);
}

TEST_CASE("what listens everywhere is reached over loopback from its own machine") {
  CHECK(reached_from_here(Endpoint::parse("tcp://*:5555")).str() == "tcp://127.0.0.1:5555");
  CHECK(reached_from_here(Endpoint::parse("tcp://0.0.0.0:1")).str() == "tcp://127.0.0.1:1");
  CHECK(reached_from_here(Endpoint::parse("tcp://[::]:1")).str() == "tcp://127.0.0.1:1");
  CHECK(reached_from_here(Endpoint::parse("tcp://[fd00::2]:1")).str() == "tcp://[fd00::2]:1");
  CHECK(reached_from_here(Endpoint::parse("tcp://10.0.0.1:1")).str() == "tcp://10.0.0.1:1");
  CHECK(reached_from_here(Endpoint::parse("ipc://*")).str() == "ipc://*");
}
