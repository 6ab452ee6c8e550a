// `pacml train` with algorithm: apex, from its first line to what others make of it.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/pacml_process.h"
#include "tests/support/roles.h"
#include "tests/support/run_checkpoint.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::last_report;
using testing::lines_after;
using testing::newest_checkpoint;
using testing::Outcome;
using testing::pacml;
using testing::tiny_apex_config;
using testing::train_words;
using testing::Workplace;

// A shard's last words: it kept its proportions, and took nothing amiss.
void check_shard(const json& report) {
  const auto config = tiny_apex_config();
  const auto& table = config.replay.table;
  const double inserted = report["inserted"];
  const double owed = table.samples_per_insert * (inserted - static_cast<double>(table.min_size)) -
                      report["sampled"].get<double>();
  INFO(report);
  // What a side may be ahead, and the rest of the message or the batch that took it there; and of
  // inserts those that waited when the shard was stopped. A message has the steps that it covers,
  // and windows that were open before.
  const auto message = static_cast<double>(
      config.actor.environments * (config.actor.unroll_length + config.transitions.n_step));
  const auto waited = static_cast<double>(config.actors * config.replay.credits_per_actor);
  CHECK(owed <= table.error_buffer + (1 + waited) * message * table.samples_per_insert);
  if (inserted >= static_cast<double>(table.min_size)) {
    CHECK(owed >= -table.error_buffer - static_cast<double>(config.apex.batch_size));
  } else {
    CHECK(report["sampled"] == 0);  // on a busy machine the run was over before its actors came
  }
  CHECK(report["items"] <= table.capacity);
  for (const char* key : {"duplicates", "gaps", "malformed", "refused", "inserts_refused",
                          "updates_refused", "actors", "learners"}) {
    INFO(key);
    CHECK(report[key] == 0);
  }
}

void check_learner(const json& line) {
  for (const char* key : {"duplicates", "gaps", "malformed", "refused", "misfits", "stale"}) {
    INFO(key);
    CHECK(line[key] == 0);
  }
  CHECK(line["samples"] ==
        line["updates"].get<std::int64_t>() * tiny_apex_config().apex.batch_size);
}

TEST_CASE("Ape-X trains from end to end, and goes on from there", "[integration][train]") {
  auto config = tiny_apex_config();
  config.patience.silence_seconds = 300;  // nobody joins twice since this machine is slow
  const Workplace place(config);
  const Outcome first = pacml(train_words(place, {"--decisions", "12000"}));
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(first.err.empty());
  CHECK_THAT(first.out, Catch::Contains("of 12.0 k decisions"));
  for (const char* file :
       {"config.yaml", "metrics.jsonl", "checkpoints/best.safetensors", "logs/learner.log",
        "logs/replay-0.log", "logs/replay-1.log", "replay/shard-0", "replay/shard-1"}) {
    INFO(file);
    CHECK(fs::file_size(place / "run" / file) > 0);
  }
  // On a busy machine one of the two may be done before the other one has begun.
  CHECK_FALSE((place.log("actor-0") + place.log("actor-1")).empty());
  const auto lines = place.metrics();
  REQUIRE(lines.size() >= 1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    for (const char* key : {"decisions", "samples", "updates", "episodes", "seconds"}) {
      INFO(key);
      CHECK(lines[i][key] >= lines[i - 1][key]);
    }
    CHECK(lines[i]["replay"]["batches"] >= lines[i - 1]["replay"]["batches"]);
  }
  const json& last = lines.back();
  check_learner(last);
  CHECK(last["decisions"] >= 12'000);
  CHECK(last["episodes"] > 0);
  CHECK(last["actors"] >= 1);  // one may be slow to start, and be there for the end only
  CHECK(last["replay"]["shards"] == 2);
  CHECK(last["replay"]["joins"] >= 2);
  CHECK(last["replay"]["redrawn"] == 0);
  CHECK(last["replay"]["batches"] >= last["updates"]);
  CHECK(last["replay"]["items"] > tiny_apex_config().replay.table.min_size);
  CHECK(last["replay"]["total_priority"] > 0);
  // What the shards were told to keep shows at the learner, but for the first items.
  const auto table = tiny_apex_config().replay.table;
  CHECK(last["samples"].get<double>() ==
        Approx(table.samples_per_insert *
               (last["decisions"].get<double>() - 2 * static_cast<double>(table.min_size)))
            .epsilon(0.1));
  std::int64_t inserted = 0;
  for (const char* shard : {"replay-0", "replay-1"}) {
    const auto report = last_report(place.log(shard));
    check_shard(report);
    testing::check_books(report, tiny_apex_config());
    inserted += report["inserted"].get<std::int64_t>();
  }
  CHECK(last["decisions"] <= inserted);
  const auto checkpoint = newest_checkpoint(place);
  for (const char* key : {"decisions", "samples", "updates", "episodes"}) {
    INFO(key);
    CHECK(checkpoint.counters.at(key) == last[key]);
  }

  const Outcome again = pacml(train_words(place, {"--resume", "--decisions", "20000"}));
  INFO(again.err);
  REQUIRE(again.code == 0);
  const auto all = place.metrics();
  REQUIRE(all.size() > lines.size());
  const json& next = all[lines.size()];
  for (const char* key : {"decisions", "samples", "updates", "episodes", "seconds"}) {
    INFO(key);
    CHECK(next[key] >= last[key]);
  }
  CHECK(all.back()["decisions"] >= 20'000);
  check_learner(all.back());
  std::int64_t inserted_in_all = 0;
  std::int64_t restored_in_all = 0;
  for (const std::string shard : {"0", "1"}) {
    const std::string log = place.log("replay-" + shard);
    const auto restored =
        lines_after(log, "goes on from " + place.run() + "/replay/shard-" + shard + " with ");
    REQUIRE(restored.size() == 1);
    restored_in_all += std::stoll(restored[0]);
    const auto report = last_report(log);
    check_shard(report);
    inserted_in_all += report["inserted"].get<std::int64_t>();
  }
  CHECK(restored_in_all >= table.min_size);
  CHECK(inserted_in_all > inserted);
  // What was found in the shards is not counted as new.
  CHECK(all.back()["decisions"] <= inserted_in_all);

  // What is gone is told.
  const fs::path gone = place / "run/replay/shard-1";
  fs::remove(gone);
  const Outcome bare = pacml(train_words(place, {"--resume", "--decisions", "21000"}));
  CHECK(bare.code == 0);
  CHECK(bare.err == "replay-1 begins with an empty table: there is no " + gone.string() + "\n");
}

TEST_CASE("a run that begins in somebody's folder leaves what is there", "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const fs::path replay = fs::path(place.run()) / "replay";
  fs::create_directories(replay / "letters");
  std::ofstream(replay / "letters" / "one") << "dear";
  std::ofstream(replay / "shard-0") << "of a run that never began";
  const Outcome trained = pacml(train_words(place, {"--decisions", "2000"}));
  INFO(trained.err);
  CHECK(trained.code == 0);
  CHECK(fs::exists(replay / "letters" / "one"));
  CHECK(fs::file_size(replay / "shard-0") > 100);
}

TEST_CASE("deterministic Ape-X is the same bit for bit, and differs with the seed",
          "[integration][train]") {
  const auto trained = [](const std::string& seed) {
    const Workplace place(tiny_apex_config());
    const Outcome outcome = pacml(
        train_words(place, {"--deterministic", "--decisions", "3000", "--set", "seed=" + seed}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const auto last = place.metrics().back();
    CHECK(last["updates"] > 10);
    CHECK_FALSE(last.contains("replay"));  // there are no shards around it
    check_learner(last);
    return newest_checkpoint(place).algorithm;
  };
  const auto first = trained("1");
  CHECK(trained("1") == first);
  CHECK_FALSE(trained("2") == first);
}

TEST_CASE("actors from elsewhere join where training binds, and --continue begins and goes on",
          "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const auto at = [](int offset) {
    return "tcp://" + testing::loopback_host(2) + ":" + std::to_string(5555 + offset);
  };
  const auto words = train_words(place, {"--actors", "0", "--bind", at(0), "--continue"});
  const auto actor = testing::actor_words(place, at(0), 7, {"--replay", at(2), "--replay", at(3)});
  std::int64_t before = 0;
  for (int life = 0; life < 2; ++life) {
    testing::Pacml train(words);
    testing::Pacml joined(actor);
    place.wait_for_decisions(before + 2'000);
    train.signal(SIGTERM);
    CHECK(train.end() == 0);
    CHECK(joined.end() == 0);
    before = place.latest("decisions");
  }
}

TEST_CASE("whoever is to join reads where training listens, for as long as it does",
          "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const auto file = place / "address";
  testing::Pacml train(train_words(
      place, {"--actors", "0", "--bind", "tcp://127.0.0.1:*", "--address-file", file.string()}));
  testing::wait_until("it is known where the learner is",
                      [&] { return std::filesystem::exists(file); });
  std::vector<std::string> words = {"actor", place.config_file(), "--id", "7"};
  std::istringstream lines(testing::text_of(file));
  for (std::string word; std::getline(lines, word);) words.push_back(word);
  CHECK(words.size() == 4 + 2 * (1 + 2));  // a learner, and both shards
  testing::Pacml joined(words);
  place.wait_for_decisions(2'000);
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
  CHECK(joined.end() == 0);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a file for addresses that somebody else has written stays", "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const auto file = place / "address";
  const std::vector<std::string> more = {"--bind", "tcp://127.0.0.1:*", "--address-file",
                                         file.string()};
  testing::Pacml train(train_words(place, more));
  testing::wait_until("it is known where the learner is",
                      [&] { return std::filesystem::exists(file); });
  place.wait_for_decisions(1'000);
  std::ofstream(file) << "another run's";
  train.signal(SIGTERM);
  CHECK(train.end() == 0);
  CHECK(testing::text_of(file) == "another run's");

  // What is read, or is another run's, is not written at all.
  for (const std::string& taken :
       {place.config_file(), (std::filesystem::path(place.run()) / "config.yaml").string()}) {
    const std::string before = testing::text_of(taken);
    const Outcome refused = pacml({"train", place.config_file(), "--run", place.run() + "2",
                                   "--bind", "tcp://127.0.0.1:*", "--address-file", taken});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Catch::Contains("--address-file"));
    CHECK(testing::text_of(taken) == before);
  }
}

TEST_CASE("where training may choose the port, all its processes know which it is",
          "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const auto words = train_words(place, {"--bind", "tcp://127.0.0.1:*", "--decisions", "3000"});
  const Outcome trained = pacml(words);
  INFO(trained.err);
  CHECK(trained.code == 0);
  CHECK(place.latest("decisions") >= 3'000);
  CHECK_THAT(trained.err, Catch::Contains("further actors may join at tcp://127.0.0.1:"));
}

TEST_CASE("a policy of Ape-X is evaluated and exported like any other", "[integration][train]") {
  const Workplace place(tiny_apex_config());
  const Outcome trained = pacml(train_words(place, {"--deterministic", "--decisions", "1000"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const std::string result = (place / "result.json").string();
  const Outcome evaluated = pacml({"eval", place.config_file(), "--policy", place.run(), "--policy",
                                   "para_max", "--seeds", "2", "--out", result});
  INFO(evaluated.err);
  REQUIRE(evaluated.code == 0);
  const auto policies = json::parse(testing::text_of(result))["policies"];
  REQUIRE(policies.size() == 2);
  CHECK(policies[0]["name"] == place.run());
  CHECK(policies[0]["blocking_rate"]["mean"].is_number());
  for (const char* format : {"safetensors", "torchscript"}) {
    const std::string file = (place / format).string();
    const Outcome exported = pacml({"export", place.run(), "--format", format, "--out", file});
    INFO(exported.err);
    CHECK(exported.code == 0);
    CHECK(fs::file_size(file) > 1'000);
  }
}

}  // namespace
}  // namespace pacml
