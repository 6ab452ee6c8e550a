// What a user of Ape-X may get wrong.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/transport/context.h"
#include "common/transport/router.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/refusals.h"
#include "tests/support/roles.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::actor_words;
using testing::check_refused;
using testing::Learner;
using testing::Outcome;
using testing::pacml;
using testing::replay_options;
using testing::Shard;
using testing::text_of;
using testing::tiny_apex_config;
using testing::Workplace;

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words replay(const Workplace& place, const Words& options = {}) {
  return with({"replay", place.config_file(), "--bind", place.socket()}, options);
}

TEST_CASE("each role is told of every shard, where there are some", "[integration][config]") {
  const Workplace place(tiny_apex_config());
  const auto actor = actor_words(place, place.socket(), 0);
  const auto address = [&](const std::string& name) {
    return Words{"--replay", place.socket() + name};
  };
  const Words impala = {"--set", "algorithm=impala"};
  check_refused(place, actor, {"--replay: 0 addresses, but replay.shards is 2"});
  check_refused(place, with(actor, address("a")), {"--replay: 1 addresses"});
  check_refused(place, with(with(with(actor, address("a")), address("b")), address("c")),
                {"--replay: 3 addresses, but replay.shards is 2"});
  check_refused(place, with(with(actor, impala), address("a")),
                {"--replay: the algorithm impala uses no replay; apex does"});
  const Words learner = {"learner", place.config_file(), "--run", place.run(),
                         "--bind",  place.socket()};
  check_refused(place, learner, {"--replay: 0 addresses, but replay.shards is 2"});
  check_refused(place, with(with(learner, impala), address("a")),
                {"--replay: the algorithm impala uses no replay; apex does"});
  check_refused(place, with({"train", place.config_file(), "--run", place.run()}, address("a")),
                {"has no option --replay"});
  check_refused(place, with(with(actor, {"--replay", "127.0.0.1:5560"}), address("b")),
                {"'127.0.0.1:5560'"});
}

TEST_CASE("a replay shard that cannot be is refused", "[integration][config]") {
  const Workplace place(tiny_apex_config());
  check_refused(place, replay(place, {"--set", "algorithm=impala"}),
                {"algorithm: impala uses no replay; apex does"});
  for (const char* shard : {"-1", "2"}) {
    check_refused(place, replay(place, {"--shard", shard}),
                  {"--shard: must be in 0..1 (replay.shards is 2)"});
  }
  check_refused(place, replay(place, {"--shard", "first"}), {"--shard", "first"});
  check_refused(place, {"replay", place.config_file(), "--bind", "tcp://0.0.0.0:5999"},
                {"other hosts can reach that address"});
  check_refused(place, {"replay", place.config_file(), "--bind", "here"}, {"'here'"});
  check_refused(place, replay(place, {"--profiles", (place / "none").string()}),
                {(place / "none").string(), "no such folder"});
  transport::Context context;
  const transport::Router taken(context, transport::Endpoint::parse(place.socket()));
  check_refused(place, replay(place), {"cannot bind " + place.socket(), "already in use"}, 75);
}

TEST_CASE("settings of the replay that cannot be are refused by their key",
          "[integration][config]") {
  const Workplace place(tiny_apex_config());
  const auto check = [&](const std::string& change, const Words& parts) {
    check_refused(place, replay(place, {"--set", change}), with({"--set " + change + ": "}, parts));
  };
  check("replay.shards=0", {"replay: shards: must be in 1..256"});
  check("replay.patience_seconds=0", {"replay: patience_seconds: must be at least 0.001"});
  check("replay.forget_seconds=0", {"replay: forget_seconds: must be in 1..1e6"});
  check("replay.table.capacity=3000000000", {"replay.table: capacity must be from 1 to"});
  check("replay.table.max_bytes=-1", {"max_bytes must be at least 0, not -1"});
  check("replay.table.capacity=many", {"replay.table.capacity: expected an integer"});
  check("replay.table.priority_exponent=1.5", {"priority_exponent must be from 0 to 1"});
  check("replay.table.priority_exponent=nan", {"priority_exponent"});
  check("replay.table.min_size=5001", {"min_size must be from 1 to capacity (5000)"});
  check_refused(place, replay(place, {"--set", "replay.table.max_bytes=10000"}),
                {"replay.table.max_bytes: 10000 bytes do not hold replay.table.min_size"});
  check("replay.table.error_buffer=1", {"error_buffer must be", "at least samples_per_insert"});
  check("replay.table.sampler=best", {"replay.table.sampler", "'best'", "prioritized"});
  check("replay.table.capcity=5", {"'replay.table.capcity'", "did you mean 'capacity'?"});
  check("replay.shrads=2", {"'replay.shrads'", "did you mean 'shards'?"});
  check("replay.table.remover=fivo", {"did you mean 'fifo'?"});
  check("apex.batch_sise=2", {"'apex.batch_sise'", "did you mean 'batch_size'?"});
  check("transitions.n_steps=2", {"'transitions.n_steps'", "did you mean 'n_step'?"});
  check("exploration.bass=0.1", {"'exploration.bass'", "did you mean 'base'?"});
  check("algorithm=apx", {"algorithm", "'apx'", "did you mean 'apex'?"});
}

TEST_CASE("a snapshot that is not this table's is named and left as it is",
          "[integration][config]") {
  const Workplace place(tiny_apex_config());
  const fs::path file = place / "snapshot";
  const Words options = {"--snapshot", file.string()};
  {
    Shard shard(place, 0, place.socket(), options);
    shard.process().signal(SIGTERM);
    REQUIRE(shard.process().end() == 0);
  }
  const std::string whole = text_of(file);
  const auto check_damaged = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    check_refused(place, replay(place, options),
                  {"cannot restore the replay table from " + file.string() + ": "});
  };
  check_damaged(whole.substr(0, whole.size() - 1));
  check_damaged(whole + " ");
  check_damaged("");
  std::string flipped = whole;
  flipped[flipped.size() / 2] = static_cast<char>(~flipped[flipped.size() / 2]);
  check_damaged(flipped);
  std::ofstream(file, std::ios::binary) << whole;
  check_refused(place, replay(place, with(options, {"--set", "replay.table.capacity=4000"})),
                {file.string(), "capacity: 4000 here, 5000 there"});
}

TEST_CASE("a snapshot that could not be written is refused before anybody comes",
          "[integration][config]") {
  const Workplace place(tiny_apex_config());
  for (const std::string& file :
       {(place / "tiny.yaml" / "such").string(), (place / ".").string()}) {
    check_refused(place, replay(place, {"--snapshot", file}), {"cannot write " + file});
  }
}

TEST_CASE("who differs from a learner or a shard of Ape-X is told what differs",
          "[integration][config]") {
  const Workplace place(tiny_apex_config());
  const Words two_steps = {"--set", "transitions.n_step=2"};
  Shard shard(place, 0);
  const auto to_shard = replay_options({shard.address(), shard.address()});
  // This one's shards never come.
  const auto nowhere = replay_options({place.socket() + "a", place.socket() + "b"});
  Learner learner(place, place.socket(), with(nowhere, two_steps));

  const auto actor = [&](const Words& options) {
    return pacml(actor_words(place, place.socket(), 0, options));
  };
  const Outcome impala = actor({"--set", "algorithm=impala"});
  CHECK(impala.code == 2);
  CHECK_THAT(impala.err, Catch::Contains("(here: learner): ") &&
                             Catch::Contains("algorithm: apex here, impala there"));
  const Outcome steps = actor(nowhere);
  CHECK(steps.code == 2);
  CHECK_THAT(steps.err, Catch::Contains("pacml: the actor's configuration differs from the "
                                        "learner's (here: learner): transitions.n_step: 2 here, 3 "
                                        "there\n"));
  const Outcome at_shard = actor(with(to_shard, two_steps));
  CHECK(at_shard.code == 2);
  CHECK_THAT(at_shard.err, Catch::Contains("(here: replay shard): transitions.n_step: 3 here, 2 "
                                           "there\n"));
  learner.process().signal(SIGTERM);
  CHECK(learner.process().end() == 0);

  const Outcome other = pacml(with({"learner", place.config_file(), "--run",
                                    (place / "other").string(), "--bind", place.socket()},
                                   with(to_shard, two_steps)));
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Catch::StartsWith("pacml: replay shard ") &&
                            Catch::Contains("(here: replay shard): transitions.n_step: 3 here, 2 "
                                            "there\n"));
  CHECK(testing::status_of(place, shard.address())["refused"].get<int>() >= 2);
}

TEST_CASE("what status is asked for must make sense", "[integration][config]") {
  const Workplace place;
  check_refused(place, {"status"}, {"ADDRESS"});
  check_refused(place, {"status", "here"}, {"'here'"});
  for (const char* seconds : {"0", "-1", "soon"}) {
    check_refused(place, {"status", place.socket(), "--seconds", seconds}, {"--seconds"});
  }
}

}  // namespace
}  // namespace pacml
