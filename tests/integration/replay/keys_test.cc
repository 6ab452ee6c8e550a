// What a shard lets the holder of a key do.

#include <thread>

#include "common/transport/dealer.h"
#include "common/transport/router.h"
#include "common/wire/codec.h"
#include "replay/server.h"
#include "tests/support/catch.h"
#include "tests/support/key_folder.h"
#include "tests/support/served_shards.h"

namespace pacml {
namespace {

using namespace std::chrono_literals;

// What the shard answers to a Hello.
wire::Message answer_to(transport::FrameClient& client, wire::Role role) {
  REQUIRE(client.send(wire::encode(testing::shard_hello(role)), testing::soon()));
  const auto frame = client.receive(testing::soon());
  REQUIRE(frame);
  auto message = wire::decode(*frame);
  REQUIRE(message);
  return *std::move(message);
}

TEST_CASE("who holds an actor's key may insert, and is no learner", "[replay][security]") {
  const testing::KeyFolder keys;
  transport::Context context(1, keys.server());
  transport::Router router(context, transport::Endpoint::parse("tcp://127.0.0.1:*"));
  replay::Server server(testing::shard_run(), testing::shard_config(), Seed{1}, 0, {});
  const std::jthread thread([&](const std::stop_token& stop) { server.run(router, stop); });

  transport::Context actors(1, keys.client());
  transport::Dealer actor(actors, router.endpoint());
  CHECK(std::holds_alternative<wire::Welcome>(answer_to(actor, wire::Role::kActor)));
  transport::Dealer impostor(actors, router.endpoint());
  const auto refused = answer_to(impostor, wire::Role::kLearner);
  REQUIRE(std::holds_alternative<wire::Refused>(refused));
  CHECK(std::get<wire::Refused>(refused).reason ==
        "the key of actor is an actor's: a learner shows that of server");

  transport::Context learners(1, keys.server());
  transport::Dealer learner(learners, router.endpoint());
  CHECK(std::holds_alternative<wire::Welcome>(answer_to(learner, wire::Role::kLearner)));
}

TEST_CASE("a client whose key leaves the list is turned out, though its connection stands",
          "[replay][security]") {
  const testing::KeyFolder keys;
  transport::add_client_key(keys.path(), "other");
  transport::Context context(1, keys.server());
  transport::Router router(context, transport::Endpoint::parse("tcp://127.0.0.1:*"));
  replay::Server server(testing::shard_run(), testing::shard_config(), Seed{1}, 0, {});
  const std::jthread thread([&](const std::stop_token& stop) { server.run(router, stop); });

  transport::Context revoked(1, keys.client());
  transport::Dealer actor(revoked, router.endpoint());
  CHECK(std::holds_alternative<wire::Welcome>(answer_to(actor, wire::Role::kActor)));
  transport::Context others(1, keys.client("other"));
  transport::Dealer thief(others, router.endpoint());
  const auto kept = answer_to(thief, wire::Role::kActor);
  REQUIRE(std::holds_alternative<wire::Refused>(kept));
  CHECK(std::get<wire::Refused>(kept).reason ==
        "actor 0 belongs to the key of actor; this is the key of other");

  keys.revoke("actor");
  wire::Refused refused;
  for (const Deadline deadline = testing::soon(); refused.reason.empty();) {
    REQUIRE_FALSE(deadline.expired());
    REQUIRE(actor.send(wire::encode(wire::Ping{1}), testing::soon()));
    const auto frame = actor.receive(Deadline::in(100ms));
    if (!frame) continue;
    const auto message = wire::decode(*frame);
    REQUIRE(message);
    if (const auto* said = std::get_if<wire::Refused>(&*message)) refused = *said;
  }
  CHECK(refused.why == wire::Refusal::kConfig);
  CHECK(refused.reason == "the key of actor is no longer allowed here");
  // Its number is free, and the others' keys are as good as before.
  CHECK(std::holds_alternative<wire::Welcome>(answer_to(thief, wire::Role::kActor)));
}

}  // namespace
}  // namespace pacml
