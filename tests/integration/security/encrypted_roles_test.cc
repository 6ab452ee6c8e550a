// Learner, shards and actors as processes that know one another by keys, over tcp.

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/asio.h"
#include "common/rng.h"
#include "common/transport/context.h"
#include "common/transport/dealer.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/key_folder.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"
#include "tests/support/wire_samples.h"

namespace pacml {
namespace {

using testing::actor_words;
using testing::KeyFolder;
using testing::Learner;
using testing::Pacml;
using testing::train_words;
using testing::wait_until;
using testing::Workplace;

std::vector<std::string> keys_option(const std::filesystem::path& keys) {
  return {"--keys", keys.string()};
}

// A folder with another's actor, who knows our server: a key that nobody allowed.
class Intruder {
 public:
  explicit Intruder(const KeyFolder& victim) {
    std::filesystem::copy_file(victim / "server.pub", keys_ / "server.pub",
                               std::filesystem::copy_options::overwrite_existing);
  }
  [[nodiscard]] std::filesystem::path path() const { return keys_.path(); }

 private:
  KeyFolder keys_;
};

nlohmann::json status_with(const Workplace& place, const std::string& address,
                           const std::filesystem::path& keys) {
  const std::string file = (place / "status.json").string();
  const auto outcome = testing::pacml(
      {"status", address, "--keys", keys.string(), "--out", file, "--seconds", "120"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(testing::text_of(file));
}

void end_in_order(Learner& learner, const std::vector<Pacml*>& actors) {
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
  for (Pacml* actor : actors) CHECK(actor->end() == 0);
}

TEST_CASE("a run with keys trains, and asks for them wherever it can be reached",
          "[integration][security]") {
  const Workplace place;
  const KeyFolder keys;
  Learner learner(place, "tcp://127.0.0.1:*", keys_option(keys.path()));
  Pacml actor(actor_words(place, learner.address(), 0, keys_option(keys.path())));
  place.wait_for_decisions(800);

  SECTION("an actor with an unknown key is refused, counted, and told why") {
    const Intruder intruder(keys);
    Pacml refused(actor_words(place, learner.address(), 1, keys_option(intruder.path())));
    CHECK(refused.end() == 2);
    CHECK_THAT(refused.err(), Catch::Contains("does not allow our key"));
    wait_until("it is counted", [&] { return place.latest("denied") >= 1; });
    CHECK(status_with(place, learner.address(), keys.path())["denied"] >= 1);
    const auto log = place.log("learner");
    CHECK_THAT(log, Catch::Contains("a connection from 127.0.0.1 was denied: the key "));
  }
  SECTION("an actor without keys is not heard") {
    Pacml plain(actor_words(place, learner.address(), 1));
    wait_until("it is told", [&] { return plain.err().find("wants keys") != std::string::npos; });
    const auto asked = testing::pacml({"status", learner.address(), "--seconds", "120"});
    CHECK(asked.code == 2);
    CHECK_THAT(asked.err, Catch::Contains("wants keys, and we have none: --keys DIR"));
    CHECK(place.latest("actors") == 1);
  }
  SECTION("an actor that knows another server says so") {
    const KeyFolder other;
    Pacml mistaken(actor_words(place, learner.address(), 1, keys_option(other.path())));
    wait_until("it is told", [&] {
      return mistaken.err().find("server.pub here is probably not its key") != std::string::npos;
    });
    CHECK(mistaken.runs());  // the right server may come
    CHECK(place.latest("actors") == 1);
  }
  SECTION("noise at its port, and messages in the clear, do nothing") {
    const auto endpoint = transport::Endpoint::parse(learner.address());
    Rng rng(Seed{5});
    for (int i = 0; i < 50; ++i) {
      asio::io_context io;
      asio::ip::tcp::socket socket(io);
      boost::system::error_code ignored;  // to be cut off is a fine answer
      socket.connect({asio::ip::make_address(endpoint.host()),
                      static_cast<unsigned short>(std::stoi(endpoint.port()))},
                     ignored);
      // Half of them begin as an encrypted client does.
      const std::string greeting =
          std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE", 17) + std::string(47, '\0');
      socket.write_some(
          asio::buffer((i % 2 == 0 ? greeting : "") + testing::random_bytes(rng, 2000)), ignored);
    }
    transport::Context clear;
    transport::Dealer stranger(clear, endpoint);
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(stranger.send(wire::encode(testing::random_message(rng, 0)),
                                      Deadline::in(std::chrono::milliseconds(10))));
    }
    place.wait_for_decisions(place.latest("decisions") + 3'000);
    const auto last = place.metrics().back();
    CHECK(last["malformed"] == 0);
    CHECK(last["refused"] == 0);
    CHECK(last["gaps"] == 0);
  }
  // Whatever was tried, who belongs here goes on.
  place.wait_for_decisions(place.latest("decisions") + 1'000);
  CHECK(actor.runs());
  end_in_order(learner, {&actor});
}

TEST_CASE("a key that is taken back turns its holder out and keeps it out; a new one lets it in",
          "[integration][security]") {
  const Workplace place;
  const KeyFolder keys;
  Learner learner(place, "tcp://127.0.0.1:*", keys_option(keys.path()));
  Pacml holder(actor_words(place, learner.address(), 0, keys_option(keys.path())));
  place.wait_for_decisions(800);

  keys.revoke("actor");
  CHECK(holder.end() == 2);
  CHECK_THAT(holder.err(), Catch::Contains("key"));
  Pacml late(actor_words(place, learner.address(), 1, keys_option(keys.path())));
  CHECK(late.end() == 2);
  CHECK_THAT(late.err(), Catch::Contains("does not allow our key"));

  transport::add_client_key(keys.path(), "second");
  auto options = keys_option(keys.path());
  options.insert(options.end(), {"--set", "security.client=second"});
  const auto before = place.latest("decisions");
  Pacml welcome(actor_words(place, learner.address(), 2, options));
  place.wait_for_decisions(before + 800);
  end_in_order(learner, {&welcome});
}

TEST_CASE("pacml train hands its keys to all of its roles", "[integration][security]") {
  const Workplace place(testing::tiny_apex_config());
  const KeyFolder keys;
  Pacml train(train_words(place, {"--keys", keys.path().string()}));
  place.wait_for_decisions(1'000);
  nlohmann::json report;
  testing::wait_until("the learner has joined the shard", [&] {
    report = status_with(place, testing::shard_address(place, 0), keys.path());
    return report["learners"] == 1;
  });
  CHECK(report["denied"] == 0);
  // Nobody else can come near its sockets.
  namespace fs = std::filesystem;
  const auto socket = transport::Endpoint::parse(testing::shard_address(place, 0));
  CHECK(fs::status(fs::path(socket.path()).parent_path()).permissions() == fs::perms::owner_all);
  CHECK(fs::status(socket.path()).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  // A shard lets nobody in either.
  const auto asked =
      testing::pacml({"status", testing::shard_address(place, 0), "--seconds", "120"});
  CHECK(asked.code == 2);
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
}

}  // namespace
}  // namespace pacml
