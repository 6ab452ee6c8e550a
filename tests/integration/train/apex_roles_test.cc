// Learner, replay shards and actors of Ape-X, started and stopped by hand, and what `pacml status`
// says of them.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/transport/router.h"
#include "common/wire/codec.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

using nlohmann::json;
using testing::actor_words;
using testing::last_report;
using testing::Learner;
using testing::Outcome;
using testing::pacml;
using testing::Pacml;
using testing::replay_options;
using testing::Shard;
using testing::status_of;
using testing::tiny_apex_config;
using testing::wait_until;
using testing::Workplace;

TEST_CASE("roles of Ape-X work together over tcp, and each says what it is doing",
          "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const std::string snapshot = (place / "snapshot").string();
  Shard first(place, 0, "tcp://127.0.0.1:*", {"--run-id", "run", "--snapshot", snapshot});
  Shard second(place, 1);
  const auto shards = replay_options({first.address(), second.address()});
  Learner learner(place, "tcp://127.0.0.1:*", shards);
  Pacml zero(actor_words(place, learner.address(), 0, shards));
  Pacml one(actor_words(place, learner.address(), 1, shards));
  for (const Shard* shard : {&first, &second}) {
    wait_until("the shard has taken and given", [&] {
      const json status = status_of(place, shard->address());
      return status["sampled"] >= 1'000 && status["actors"] == 1;
    });
  }
  wait_until("both actors are counted", [&] { return place.latest("actors") == 2; });

  const json learning = status_of(place, learner.address());
  CHECK(learning["role"] == "learner");
  CHECK(learning["run"] == "run");
  CHECK(learning["actors"] == 2);
  CHECK(learning["policy_version"] > 0);
  CHECK(learning["weights_sent"] > 0);
  CHECK(learning["duplicates"] == 0);
  const auto check_shard = [&](Shard& shard, int number, const std::string& run) {
    const json status = status_of(place, shard.address());
    INFO(status);
    CHECK(status["role"] == "replay");
    CHECK(status["shard"] == number);
    CHECK(status["run"] == run);
    CHECK(status["actors"] == 1);  // each has its shard
    CHECK(status["learners"] == 1);
    CHECK(status["inserted"] >= 300);
    CHECK(status["sampled"] > 0);
    CHECK(status["duplicates"] == 0);
    const std::string limiter = status["limiter"];
    CHECK((limiter.find("wait for ") != std::string::npos || limiter == "nobody waits"));
  };
  // What comes to a learner of Ape-X comes by way of shards.
  wait_until("the learner has measured", [&] {
    const std::string limiter = status_of(place, learner.address())["limiter"];
    return limiter.find("shard") != std::string::npos ||
           limiter.find("learner") != std::string::npos;
  });
  CHECK(status_of(place, learner.address())["window"].is_null());
  check_shard(first, 0, "run");
  check_shard(second, 1, "");

  // The same for people: a figure in each line, or a table below its name. What was updated, acted
  // or evaluated within the newest line's time alone comes and goes, so two answers may differ.
  const auto shows_all = [](const std::string& shown, const json& status) {
    return std::ranges::all_of(status.items(), [&shown](const auto& item) {
      const json& value = item.value();
      if (value.is_object() && value.empty()) return true;
      const bool is_table = value.is_array() && !value.empty() && value[0].is_object();
      const std::string behind = value.is_object() ? "." : is_table ? "\n" : " ";
      return ("\n" + shown).find("\n" + item.key() + behind) != std::string::npos;
    });
  };
  for (const auto& address : {learner.address(), first.address()}) {
    wait_until("people are shown all that programs are", [&] {
      const Outcome shown = pacml({"status", address});
      CHECK(shown.code == 0);
      CHECK(shown.err.empty());
      const std::string limiter = shown.out.substr(0, shown.out.find('\n'));
      CHECK_THAT(shown.out,
                 Catch::StartsWith(limiter + "\n\n") && Catch::Contains(" " + limiter + "\n"));
      return shows_all(shown.out, status_of(place, address));
    });
  }

  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);
  for (Pacml* actor : {&zero, &one}) {
    CHECK(actor->end() == 0);
    CHECK_THAT(actor->err(), Catch::Contains("the learner stops"));
  }
  // Shards outlive their learner: another one may come.
  wait_until("the shard knows that they have gone", [&] {
    const json status = status_of(place, first.address());
    return status["actors"] == 0 && status["learners"] == 0;
  });
  for (Shard* shard : {&first, &second}) {
    shard->process().signal(SIGTERM);
    CHECK(shard->process().end() == 0);
    CHECK(last_report(shard->process().err())["duplicates"] == 0);
  }
  CHECK(std::filesystem::file_size(snapshot) > 10'000);
}

TEST_CASE("a shard of a run that begins takes over no table of a former one, and keeps that",
          "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const std::string snapshot = (place / "snapshot").string();
  std::ofstream(snapshot) << "the table of another run";
  const Outcome refused =
      pacml({"replay", place.config_file(), "--bind", place.socket() + "-replay", "--snapshot",
             snapshot, "--run-begins"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains(snapshot + " is there: a former run's table"));
  CHECK(testing::text_of(snapshot) == "the table of another run");
  std::filesystem::remove(snapshot);
  Shard shard(place, 0, "tcp://127.0.0.1:*", {"--snapshot", snapshot, "--run-begins"});
  CHECK(status_of(place, shard.address())["inserted"] == 0);
  shard.process().signal(SIGTERM);
  CHECK(shard.process().end() == 0);
}

TEST_CASE("two shards do not save their tables in one place", "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const std::string snapshot = (place / "snapshot").string();
  Shard shard(place, 0, "tcp://127.0.0.1:*", {"--snapshot", snapshot});
  const Outcome second = pacml({"replay", place.config_file(), "--bind", place.socket() + "-replay",
                                "--snapshot", snapshot});
  CHECK(second.code == 75);
  CHECK_THAT(second.err, Catch::Contains("process " + std::to_string(shard.process().pid()) +
                                         " has " + snapshot + ": "));
  shard.process().signal(SIGTERM);
  CHECK(shard.process().end() == 0);
  CHECK(std::filesystem::exists(snapshot));
}

TEST_CASE("roles of Ape-X may come in any order, and a shard that comes back is found",
          "[integration][train]") {
  auto config = tiny_apex_config();
  config.replay.shards = 1;
  config.replay.snapshot_seconds = 0;  // when asked for, and at the end
  const Workplace place(config);
  const std::string at = place.socket() + "-replay";
  const std::vector<std::string> kept = {"--snapshot", (place / "snapshot").string()};
  Pacml actor(actor_words(place, place.socket(), 0, replay_options({at})));
  Learner learner(place, place.socket(), replay_options({at}));
  const auto decisions = [&] { return place.latest("decisions"); };
  {
    Shard shard(place, 0, at, kept);
    place.wait_for_decisions(2'000);
    shard.process().signal(SIGTERM);
    CHECK(shard.process().end() == 0);
  }
  const auto before = decisions();
  Shard shard(place, 0, at, kept);
  CHECK_THAT(shard.process().err(), Catch::Contains("goes on from " + kept[1]));
  place.wait_for_decisions(before + 2'000);
  const auto inserted = status_of(place, at)["inserted"].get<std::int64_t>();
  CHECK(inserted >= before);
  CHECK(status_of(place, at)["snapshots"] == 0);
  shard.process().signal(SIGUSR1);
  wait_until("a snapshot is written when one is asked for",
             [&] { return status_of(place, at)["snapshots"] > 0; });
  for (Pacml* role : {&learner.process(), &shard.process()}) {
    role->signal(SIGTERM);
    CHECK(role->end() == 0);
  }
  CHECK(actor.end() == 0);
}

TEST_CASE("where nobody serves, status says so in the time that it was given",
          "[integration][train]") {
  const Workplace place;
  Pacml patient({"status", place.socket(), "--seconds", "3600"});
  const Outcome outcome = pacml({"status", place.socket(), "--seconds", "0.2"});
  CHECK(outcome.code == 75);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "pacml: " + place.socket() + ": no learner or replay shard answers there\n");
  CHECK(patient.runs());
}

TEST_CASE("status asks again where whoever heard it goes without an answer",
          "[integration][train]") {
  const Workplace place;
  const auto address = transport::Endpoint::parse(place.socket());
  std::optional<Pacml> asking;
  const auto hear = [](transport::Router& server) {
    auto incoming = server.receive(testing::soon());
    REQUIRE(incoming);
    const auto message = wire::decode(incoming->frame);
    REQUIRE(message);
    REQUIRE(std::holds_alternative<wire::GetStatus>(*message));
    return incoming->peer;
  };
  transport::Context context(1);
  {
    transport::Router first(context, address);
    asking.emplace(std::vector<std::string>{"status", place.socket(), "--seconds", "1000"});
    static_cast<void>(hear(first));
  }
  transport::Router second(context, address);
  REQUIRE(second.send(hear(second), wire::encode(wire::Status{R"({"role":"learner"})"})));
  CHECK(asking->end() == 0);
  CHECK_THAT(asking->out(), Catch::Contains("learner"));
}

}  // namespace
}  // namespace pacml
