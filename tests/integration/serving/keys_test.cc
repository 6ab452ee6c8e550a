// What a learner lets the holder of a key do.

#include <chrono>
#include <thread>

#include "common/transport/dealer.h"
#include "common/transport/publisher.h"
#include "common/transport/router.h"
#include "tests/support/catch.h"
#include "tests/support/key_folder.h"
#include "tests/support/served_learner.h"

namespace pacml::testing {
namespace {

using namespace std::chrono_literals;

RawPeer peer_of(transport::Context& context, const transport::Router& router) {
  return RawPeer(std::make_unique<transport::Dealer>(context, router.endpoint()));
}

TEST_CASE(
    "an actor's number is its key's, until that leaves the list: then its actor is turned out",
    "[integration][serving][security]") {
  const KeyFolder keys;
  transport::add_client_key(keys.path(), "other");
  const auto any_port = transport::Endpoint::parse("tcp://127.0.0.1:*");
  transport::Context context(1, keys.server());
  transport::Router router(context, any_port);
  transport::Publisher publisher(context, any_port);
  learner::ExperienceServer server(sample_run(), {});
  const std::jthread thread(
      [&](const std::stop_token& stop) { server.run(router, publisher, stop); });

  transport::Context first_context(1, keys.client());
  transport::Context other_context(1, keys.client("other"));
  auto first = peer_of(first_context, router);
  auto other = peer_of(other_context, router);
  first.say(sample_hello(7, 100));
  static_cast<void>(first.hear<wire::Welcome>());
  other.say(sample_hello(7, 101));
  const auto kept = other.hear<wire::Refused>();
  CHECK(kept.why == wire::Refusal::kConfig);
  CHECK(kept.reason == "actor 7 belongs to the key of actor; this is the key of other");
  CHECK(server.counters().actors == 1);

  keys.revoke("actor");
  wire::Refused refused;
  const Deadline deadline = soon();
  while (refused.reason.empty() && !deadline.expired()) {
    first.say(wire::Ping{0});
    const auto message = first.hear_any();
    if (const auto* said = std::get_if<wire::Refused>(&message)) refused = *said;
  }
  CHECK(refused.why == wire::Refusal::kConfig);
  CHECK(refused.reason == "the key of actor is no longer allowed here");
  CHECK(server.counters().actors == 0);
  other.say(sample_hello(7, 101));
  static_cast<void>(other.hear<wire::Welcome>());
}

}  // namespace
}  // namespace pacml::testing
