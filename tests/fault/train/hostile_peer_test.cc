// Whoever can reach the learner's port can say what he likes to it.

#include <string>

#include "common/asio.h"
#include "common/rng.h"
#include "common/transport/context.h"
#include "common/transport/dealer.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"
#include "tests/support/soon.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

using testing::actor_words;
using testing::Learner;
using testing::Pacml;
using testing::wait_until;
using testing::Workplace;

// Connects, says `bytes`, and goes.
void shout(const transport::Endpoint& at, const std::string& bytes) {
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  boost::system::error_code ignored;  // to be cut off is a fine answer
  socket.connect(
      {asio::ip::make_address(at.host()), static_cast<unsigned short>(std::stoi(at.port()))},
      ignored);
  socket.write_some(asio::buffer(bytes), ignored);
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST_CASE("training goes on while strangers talk nonsense to the learner", "[fault][train]") {
  const Workplace place;
  Learner learner(place);
  Pacml actor(actor_words(place, learner.address(), 0));
  place.wait_for_decisions(800);
  const auto endpoint = transport::Endpoint::parse(learner.address());
  Rng rng(Seed{3});

  // Bytes that are not even ZeroMQ's.
  shout(endpoint, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 30; ++i) shout(endpoint, testing::random_bytes(rng, 4000));
  const std::string greeting =
      std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16) + std::string(48, '\0');
  for (int i = 0; i < 30; ++i) shout(endpoint, greeting + testing::random_bytes(rng, 4000));

  // Frames that are no messages: noise, another magic, another version, lengths that lie.
  transport::Context context;
  transport::Dealer stranger(context, endpoint);
  std::uint64_t nonsense = 0;
  const auto say = [&](Bytes bytes) {
    REQUIRE(stranger.send(wire::Frame{{std::move(bytes)}}, testing::soon()));
    ++nonsense;
  };
  for (int i = 0; i < 30; ++i) {
    Bytes noise;
    for (const char c : testing::random_bytes(rng, 2000)) noise.push_back(std::byte(c));
    say(std::move(noise));
  }
  say(bytes_of({'E', 'V', 'I', 'L', 1, 0, 1, 0, 0x90}));
  say(bytes_of({'P', 'A', 'C', 'L', 9, 0, 1, 0, 0x90}));
  say(bytes_of({'P', 'A', 'C', 'L', 1, 0, 99, 0, 0x90}));
  say(bytes_of({'P', 'A', 'C', 'L', 1, 0, 1, 0, 0xdd, 0xff, 0xff, 0xff, 0xff}));
  say(bytes_of({'P', 'A', 'C', 'L', 1, 0, 4, 0, 0xdc, 0xff, 0xff, 0xc6, 0xff, 0xff, 0xff, 0xff}));
  // Well-formed messages of somebody who never said Hello, or says a wrong one.
  for (std::size_t type = 1; type < std::variant_size_v<wire::Message>; ++type) {
    REQUIRE(stranger.send(wire::encode(testing::random_message(rng, type)), testing::soon()));
  }
  REQUIRE(stranger.send(wire::encode(testing::random_message(rng, 0)), testing::soon()));

  wait_until("every one of them is counted",
             [&] { return place.latest("malformed") >= static_cast<std::int64_t>(nonsense); });
  place.wait_for_decisions(place.latest("decisions") + 5'000);
  const auto last = place.metrics().back();
  CHECK(last["malformed"] >= nonsense);
  CHECK(last["actors"] == 1);
  CHECK(last["misfits"] == 0);
  CHECK(last["gaps"] == 0);
  CHECK(actor.runs());
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
  CHECK(actor.end() == 0);
}

}  // namespace
}  // namespace pacml
