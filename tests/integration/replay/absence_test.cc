#include <chrono>

#include "tests/support/let_pass.h"
#include "tests/support/served_shards.h"

// A shard that was suspended: who said something meanwhile is heard before anybody is forgotten.

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a shard that was away for long gives its peers the time to speak before it forgets",
          "[integration][replay]") {
  ManualClock clock;
  auto config = shard_config();
  config.forget_seconds = 10;
  ServedShard shard(config, 0, {}, shard_run(), clock);
  let_pass(1s, clock, shard.board());
  ShardPeer actor(shard, shard_hello(wire::Role::kActor));
  ShardPeer learner(shard, shard_hello(wire::Role::kLearner));
  ShardPeer onlooker(shard);
  let_pass(60s, clock, shard.board());
  for (int second = 1; second < 10; ++second) {
    const auto status = onlooker.status();
    REQUIRE(status.at("actors") == 1);
    REQUIRE(status.at("learners") == 1);
    let_pass(1s, clock, shard.board());
  }
  learner.say(wire::Ping{1});
  CHECK(learner.hear<wire::Pong>().nonce == 1);
  let_pass(1s, clock, shard.board());
  const auto status = onlooker.status();
  CHECK(status.at("actors") == 0);
  CHECK(status.at("learners") == 1);
}

}  // namespace
}  // namespace pacml::testing
