#include "apps/roles/training_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "apps/roles/in_process_actor.h"
#include "common/clock.h"
#include "common/config/dump.h"
#include "common/file_descriptor.h"
#include "common/heartbeat.h"
#include "common/log.h"
#include "common/result.h"
#include "common/scope_exit.h"
#include "common/try_again.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/drifting_network.h"
#include "tests/support/no_more_files.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

model::TrainableNetwork* newest_network = nullptr;  // of the newest session

std::unique_ptr<model::TrainableNetwork> make_network(const model::NetworkShape& shape) {
  auto network = std::make_unique<model::DriftingNetwork>(shape);
  newest_network = network.get();
  return network;
}

model::ParameterLayout layout_of(const TrainConfig& config) {
  const auto task = config.env.make();
  return model::make_layout(model::make_shape(config.network, task->spec()));
}

// Housekeeping only when asked for: no clock decides what a test sees.
TrainConfig quiet_config() {
  TrainConfig config = testing::tiny_config();
  config.learner.metrics_seconds = config.learner.checkpoint_seconds =
      config.learner.evaluate_seconds = 1e6;
  return config;
}

// Each message is an update.
TrainConfig config_of_small_updates() {
  TrainConfig config = quiet_config();
  config.actor.environments = 1;
  config.impala.batch_decisions = config.actor.unroll_length;
  return config;
}

// A run folder with one session after another in it.
class Run {
 public:
  explicit Run(TrainConfig config = quiet_config()) : config_(std::move(config)) {
    set_up_logging({.role = "test", .run_id = {}, .level = "off", .file = {}});
    options_.run_directory = (folder_ / "run").string();
    options_.decisions = 4'000;
  }

  // A session with an actor of its own; the first one makes the folder.
  TrainingSession& session() {
    const bool exists = RunDirectory::holds_run(options_.run_directory);
    const auto run = exists ? RunDirectory::open(options_.run_directory)
                            : RunDirectory::create(options_.run_directory, dump_config(config_));
    options_.resume = exists;
    session_.reset();
    actor_ = std::make_unique<InProcessActor>(config_);
    session_ = std::make_unique<TrainingSession>(
        config_, options_, run, make_network, actor_.get(), *actor_,
        ServiceFigures{.server = [this] { return server_; },
                       .replay = [this] { return replay_; },
                       .drawn = nullptr});
    return *session_;
  }
  void train(std::int64_t until_decisions) {
    options_.decisions = until_decisions;
    session().run({});
  }

  [[nodiscard]] std::vector<json> metrics() const {
    std::ifstream file(folder_ / "run" / "metrics.jsonl");
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }
  [[nodiscard]] fs::path checkpoint_folder() const { return folder_ / "run" / "checkpoints"; }
  [[nodiscard]] learner::Checkpoint newest() const {
    return learner::load_newest(learner::CheckpointFolder(checkpoint_folder(), 1),
                                layout_of(config_))
        .checkpoint;
  }
  [[nodiscard]] std::vector<std::string> checkpoint_names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(checkpoint_folder())) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  void wait_for_checkpoint(std::int64_t updates) const {
    const Deadline deadline = testing::soon();
    while (newest().counters.at("updates") < updates) REQUIRE_FALSE(deadline.expired());
  }
  // Where the checkpoints' folder should be: no write can succeed, not even for root.
  void put_file_in_the_way() const {
    fs::remove_all(checkpoint_folder());
    std::ofstream(checkpoint_folder()) << "in the way";
  }
  TrainConfig& config() { return config_; }
  LearnerRoleOptions& options() { return options_; }
  serving::ServerCounters& server() { return server_; }
  std::optional<replay::ClientStatus>& replay() { return replay_; }

 private:
  testing::TempDir folder_;
  TrainConfig config_;
  LearnerRoleOptions options_;
  serving::ServerCounters server_;
  std::optional<replay::ClientStatus> replay_;
  std::unique_ptr<InProcessActor> actor_;
  std::unique_ptr<TrainingSession> session_;
};

std::stop_token stopped() {
  std::stop_source stop;
  stop.request_stop();
  return stop.get_token();
}

TEST_CASE("a session learns up to its limit and leaves a checkpoint, metrics and the best policy",
          "[unit][train]") {
  Run run;
  run.train(2'000);
  const auto checkpoint = run.newest();
  CHECK(checkpoint.counters.at("decisions") == 2'000);
  CHECK(checkpoint.counters.at("samples") == 2'000);
  CHECK(checkpoint.counters.at("updates") == 5);
  CHECK(checkpoint.counters.at("episodes") > 0);
  CHECK(checkpoint.run_id == "run");
  CHECK(checkpoint.config_text == dump_config(run.config()));
  CHECK(run.checkpoint_names() == std::vector<std::string>{"best.safetensors",
                                                           "checkpoint-000000000000.safetensors",
                                                           "checkpoint-000000000005.safetensors"});
  REQUIRE(run.metrics().size() == 1);
  CHECK(run.metrics()[0]["evaluation"]["best"] == checkpoint.best_score.value());
}

TEST_CASE("a session says at any time what was learned", "[unit][train]") {
  Run run;
  TrainingSession& session = run.session();
  CHECK(session.status()["decisions"] == 0);
  session.begin();
  CHECK(session.step({}));
  json status = session.status();
  CHECK(status["decisions"] == 400);
  CHECK(status["updates"] == 1);
  CHECK(status["faults"]["checkpoint_failures"] == 0);
  CHECK_FALSE(status.contains("loss"));  // no line of metrics yet
  session.finish();
  status = session.status();
  const json line = run.metrics().back();
  for (const auto& [key, value] : line.items()) {
    INFO(key);
    if (key != "faults") CHECK(status[key] == value);  // those grow older
  }
}

// A learning rate that falls from 1e-3 to 0 over the run, or over 10 000 decisions where it has no
// end. An update takes in 400.
TrainConfig annealed_config() {
  TrainConfig config = quiet_config();
  config.algorithm = AlgorithmKind::kPpo;
  config.ppo.batch_decisions = 400;
  config.ppo.learning_rate = {.kind = learner::ScheduleKind::kLinear,
                              .start = 1e-3,
                              .end = 0,
                              .over = learner::ScheduleSpan::kRun,
                              .decisions = 10'000};
  return config;
}

TEST_CASE("schedules over the run take as long as the run", "[unit][train]") {
  Run run(annealed_config());
  // The mean over the run's updates; the first is made at the beginning, the last before the end.
  const auto mean_rate = [&] { return run.metrics().back()["learning_rate"].get<double>(); };
  run.train(8'000);
  CHECK(mean_rate() == Approx(0.525e-3).epsilon(0.02));
  run.options().minutes = GENERATE(std::optional<double>(), std::optional<double>(1e6));
  run.train(16'000);
  CHECK(mean_rate() == 0);  // it had come to its end
}

TEST_CASE("schedules over the run go on where they were, whatever its end is", "[unit][train]") {
  Run run(annealed_config());
  // Learns until so many decisions are learned from, whatever end the run has; the mean rate of
  // what was learned since the last checkpoint.
  const auto learn_until = [&run](std::int64_t decisions) {
    TrainingSession& session = run.session();
    session.begin();
    while (session.status()["decisions"] < decisions && session.step({})) {
    }
    session.finish();
    return run.metrics().back()["learning_rate"].get<double>();
  };
  const auto rate = [](double done) { return Approx(1e-3 * (1 - done)).epsilon(0.03); };
  SECTION("of decisions, then of more, then of time") {
    run.options().decisions = 8'000;
    CHECK(learn_until(4'000) == rate(0.25 - 0.025));  // an update's rate is that of its beginning
    run.options().decisions = 24'000;                 // half of the way for 20 000
    CHECK(learn_until(8'000) == rate(0.5 + 0.05 - 0.005));
    run.options().decisions.reset();
    run.options().minutes = 1e6;
    CHECK(learn_until(10'000) == rate(0.6));
  }
  SECTION("of decisions, then of none") {
    run.options().decisions = 8'000;
    learn_until(4'000);
    run.options().decisions.reset();
    CHECK(learn_until(6'000) == rate(0.5 + 0.1 - 0.02));
    run.options().minutes = 1e6;
    CHECK(learn_until(8'000) == rate(0.7));
  }
  SECTION("of decisions, of fewer than there are, then of more") {
    run.options().decisions = 8'000;
    learn_until(4'000);
    run.options().decisions = 2'000;
    CHECK(learn_until(4'400) == rate(0.5));
    run.options().decisions = 12'400;
    CHECK(learn_until(8'400) == rate(0.5 + 0.125 - 0.0125));
  }
  SECTION("of none, then of time") {
    run.options().decisions.reset();
    CHECK(learn_until(4'800) == rate(0.24 - 0.02));
    run.options().minutes = 1e6;
    CHECK(learn_until(6'000) == rate(0.48));
  }
}

TEST_CASE("there is something to resume from before anything was learned", "[unit][train]") {
  Run run;
  run.session().run(stopped());
  CHECK(run.newest().counters.at("decisions") == 0);
  run.train(2'000);
  CHECK(run.newest().counters.at("decisions") >= 2'000);
}

TEST_CASE("a line of metrics has every figure that is documented", "[unit][train]") {
  Run run;
  run.server() = {
      .actors = 3, .accepted = 11, .duplicates = 1, .gaps = 2, .malformed = 4, .refused = 5};
  run.train(800);
  const json line = run.metrics().at(0);
  const std::set<std::string> expected = {"actors",
                                          "episode",
                                          "decisions",
                                          "decisions_per_second",
                                          "denied",
                                          "disk_free_bytes",
                                          "duplicates",
                                          "entropy",
                                          "entropy_cost",
                                          "entropy_loss",
                                          "episodes",
                                          "evaluation",
                                          "explained_variance",
                                          "faults",
                                          "gaps",
                                          "gradient_norm",
                                          "learning_rate",
                                          "log_rho",
                                          "loss",
                                          "malformed",
                                          "messages",
                                          "misfits",
                                          "no_room",
                                          "policy_lag",
                                          "policy_loss",
                                          "queue_depth",
                                          "refused",
                                          "resident_bytes",
                                          "return",
                                          "samples",
                                          "samples_per_second",
                                          "seconds",
                                          "skipped",
                                          "stale",
                                          "unfinished",
                                          "updates",
                                          "updates_per_second",
                                          "value_deviation",
                                          "value_loss",
                                          "value_target"};
  std::set<std::string> found;
  for (const auto& [key, value] : line.items()) found.insert(key);
  CHECK(found == expected);
  CHECK(line["policy_lag"].size() == 3);
  CHECK(line["actors"] == 3);
  CHECK(line["messages"] == 11);
  CHECK(line["duplicates"] == 1);
  CHECK(line["gaps"] == 2);
  CHECK(line["malformed"] == 4);
  CHECK(line["refused"] == 5);
  CHECK(line["resident_bytes"] > 1'000'000);
  CHECK(line["decisions_per_second"] > 0);
  CHECK(line["faults"]["checkpoint_failures"] == 0);
  CHECK(line["faults"]["checkpoint_age_seconds"] >= 0);
  CHECK(line["faults"]["checkpoint_interval_seconds"] > 0);
  CHECK(line["faults"]["metrics_failures"] == 0);
  CHECK(line["faults"]["last"] == "");
}

TEST_CASE("a line of metrics says what the replay shards hold, where there are some",
          "[unit][train]") {
  Run run;
  run.replay() = replay::ClientStatus{.shards = 2,
                                      .joins = 3,
                                      .redrawn = 4,
                                      .updates_lost = 5,
                                      .episodes_lost = 9,
                                      .batches = 6,
                                      .items = 7,
                                      .total_priority = 8.5};
  run.train(400);
  const json expected = {
      {"each", json::array()}, {"shards", 2},       {"joins", 3}, {"redrawn", 4},
      {"updates_lost", 5},     {"batches", 6},      {"items", 7}, {"total_priority", 8.5},
      {"malformed", 0},        {"episodes_lost", 9}};
  CHECK(run.metrics().at(0)["replay"] == expected);
}

TEST_CASE("a session tells that it goes on while its policy is evaluated", "[unit][train]") {
  TrainConfig config = quiet_config();
  config.learner.metrics_seconds = 1e-4;
  Run run(config);
  run.train(400);
  const auto lines = run.metrics();
  const auto evaluating = std::ranges::count_if(
      lines, [](const json& line) { return line.value("evaluating", false); });
  REQUIRE(evaluating > 0);
  CHECK_FALSE(lines.back().contains("evaluating"));
  for (const json& line : lines) {
    if (!line.contains("evaluating")) continue;
    CHECK_THAT(line["limiter"].get<std::string>(), Catch::Contains("evaluates its policy"));
    CHECK_FALSE(line["learner_waits"].get<bool>());
    CHECK(line["decisions"] == 400);
  }
}

TEST_CASE("a session whose learning diverges ends before its limit, with weights that are finite",
          "[unit][train]") {
  Run run(config_of_small_updates());
  TrainingSession& session = run.session();
  session.begin();
  REQUIRE(session.step({}));
  newest_network->parameters()[0] = std::numeric_limits<float>::infinity();
  int steps = 0;
  while (session.step({})) REQUIRE(++steps < 200);
  const auto why = session.divergence();
  REQUIRE(why);
  CHECK_THAT(*why, Catch::StartsWith("learning has diverged: each of the 100 updates tried after "
                                     "update 1 would"));
  CHECK(session.status()["skipped"] == 100);
  const auto before = run.checkpoint_names();
  session.request_checkpoint();
  session.finish();  // what can be resumed from is the state before
  CHECK(run.checkpoint_names() == before);
  CHECK(run.metrics().back()["skipped"] == 100);
}

TEST_CASE("a session that reaches its limit while learning diverges says so", "[unit][train]") {
  const TrainConfig config = config_of_small_updates();
  const auto diverge = [] { newest_network->parameters()[0] = std::numeric_limits<float>::max(); };
  const auto end_of = [](TrainingSession& session) {
    while (session.step({})) {
    }
    session.finish();
    return session.divergence();
  };
  Run run(config);
  const auto session_of_updates = [&](std::int64_t updates) -> TrainingSession& {
    run.options().decisions = updates * config.actor.unroll_length;
    TrainingSession& session = run.session();
    session.begin();
    return session;
  };

  SECTION("by its last updates") {
    TrainingSession& session = session_of_updates(5);
    for (int i = 0; i < 2; ++i) REQUIRE(session.step({}));
    diverge();
    const auto why = end_of(session);
    REQUIRE(why);
    CHECK_THAT(*why, Catch::Contains("each of the 3 updates tried after update 2 would"));
  }
  SECTION("by its only update") {
    TrainingSession& session = session_of_updates(1);
    diverge();
    const auto why = end_of(session);
    REQUIRE(why);
    CHECK_THAT(*why, Catch::Contains("the only update tried after update 0 would"));
  }
  SECTION("but not by one or two, which others may follow") {
    TrainingSession& session = session_of_updates(5);
    for (int i = 0; i < 3; ++i) REQUIRE(session.step({}));
    diverge();
    CHECK_FALSE(end_of(session));
  }
  SECTION("nor where it is stopped") {
    TrainingSession& session = session_of_updates(50);
    REQUIRE(session.step({}));
    diverge();
    for (int i = 0; i < 10; ++i) REQUIRE(session.step({}));
    std::stop_source stop;
    stop.request_stop();
    CHECK_FALSE(session.step(stop.get_token()));
    session.finish(stop.get_token());
    CHECK_FALSE(session.divergence());
  }
}

TEST_CASE("a session that is resumed counts on from its checkpoint", "[unit][train]") {
  Run run;
  run.train(2'000);
  const auto before = run.newest();
  run.train(4'000);
  const auto after = run.newest();
  CHECK(after.counters.at("decisions") == 4'000);
  CHECK(after.counters.at("updates") == 10);
  CHECK(after.counters.at("milliseconds") >= before.counters.at("milliseconds"));
  CHECK(after.best_score <= before.best_score);
  const auto lines = run.metrics();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1]["decisions"] == 4'000);
  CHECK(lines[1]["updates"] == 10);
  CHECK(lines[1]["seconds"] > lines[0]["seconds"]);
}

TEST_CASE("the same seed gives the same weights, another one does not", "[unit][train]") {
  const auto weights = [](std::int64_t seed) {
    TrainConfig config = quiet_config();
    config.seed = seed;
    Run run(config);
    run.train(1'200);
    return run.newest().algorithm;
  };
  const auto first = weights(1);
  CHECK(weights(1) == first);
  CHECK_FALSE(weights(2) == first);
}

TEST_CASE("a checkpoint is written at the next opportunity when one is asked for",
          "[unit][train]") {
  Run run;
  TrainingSession& session = run.session();
  session.begin();
  session.step({});
  session.request_checkpoint();
  session.step({});
  run.wait_for_checkpoint(2);
  session.step({});
  session.request_checkpoint();
  session.step({});
  run.wait_for_checkpoint(4);
  CHECK(run.checkpoint_names() == std::vector<std::string>{"checkpoint-000000000000.safetensors",
                                                           "checkpoint-000000000002.safetensors",
                                                           "checkpoint-000000000004.safetensors"});
}

TEST_CASE("a disk that fails during training is counted, at the end it is an error",
          "[unit][train]") {
  Run run;
  TrainingSession& session = run.session();
  session.begin();
  run.put_file_in_the_way();
  session.request_checkpoint();
  CHECK(session.step({}));
  const Deadline deadline = testing::soon();
  while (session.faults()["checkpoint_failures"] == 0) REQUIRE_FALSE(deadline.expired());
  CHECK_THAT(session.faults()["last"].get<std::string>(),
             Catch::Contains(run.checkpoint_folder().string()));
  CHECK_THROWS_WITH(session.finish(),
                    Catch::StartsWith("the last checkpoint could not be written: ") &&
                        Catch::Contains(run.checkpoint_folder().string()));
  // All else was done all the same.
  REQUIRE(run.metrics().size() == 1);
  CHECK(run.metrics()[0]["faults"]["checkpoint_failures"] >= 2);
  CHECK(run.metrics()[0]["evaluation"]["score"].is_number());
  fs::remove(run.checkpoint_folder());
  CHECK_NOTHROW(session.finish());
  CHECK(run.newest().counters.at("updates") == 1);
}

// A file in the place of which nothing can be written until somebody reads: a terminal's.
class FullTerminal {
 public:
  explicit FullTerminal(const fs::path& path)
      : reader_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    const int reader = reader_.get();
    REQUIRE(reader_.is_open());
    REQUIRE((::grantpt(reader) == 0 && ::unlockpt(reader) == 0));
    const std::string name = ::ptsname(reader);
    file_ = FileDescriptor(::open(name.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(file_.is_open());
    fs::remove(path);
    fs::create_symlink(name, path);
    const std::array<char, 4096> block{};
    while (::write(file_.get(), block.data(), block.size()) > 0) {
    }
    REQUIRE(errno == EAGAIN);
  }
  void empty() const {
    std::array<char, 4096> block{};
    while (::read(reader_.get(), block.data(), block.size()) > 0) {
    }
  }

 private:
  FileDescriptor reader_;
  FileDescriptor file_;
};

TEST_CASE("a session that waits for its disk is not taken for one that hangs", "[unit][train]") {
  Run run(config_of_small_updates());
  run.train(400);
  const FullTerminal metrics(run.checkpoint_folder().parent_path() / "metrics.jsonl");
  run.config().learner.metrics_seconds = 1e-3;
  run.options().decisions = 1'000'000;
  TrainingSession& session = run.session();
  session.begin();
  std::atomic<bool> begun = false;
  std::atomic<bool> done = false;
  std::string failed;  // checked once the thread has ended: Catch2 takes one assertion at a time
  std::jthread learn([&] {
    const Heartbeat heart("learn");
    begun = true;
    try {
      session.step({});
    } catch (const std::exception& error) {
      failed = error.what();
    }
    done = true;
  });
  const ScopeExit disk_goes_on([&] {
    while (!done) metrics.empty();
  });
  const Deadline deadline = testing::soon();
  while (!begun || longest_silence(steady().now())) REQUIRE_FALSE(deadline.expired());
  CHECK(hung_thread(steady().now() + std::chrono::hours(1), std::chrono::seconds(30)).empty());
  while (!done) metrics.empty();
  learn.join();
  CHECK(failed.empty());
}

TEST_CASE("a disk that takes no first checkpoint ends the run before it begins", "[unit][train]") {
  Run run;
  TrainingSession& session = run.session();
  run.put_file_in_the_way();
  CHECK_THROWS_AS(session.run({}), UserError);
}

TEST_CASE("a first checkpoint that may be written another time is tried again", "[unit][train]") {
  Run run;
  TrainingSession& session = run.session();
  const auto thrown = testing::thrown_without_files([&session] { session.run({}); });
  REQUIRE(thrown);
  CHECK_THROWS_AS(std::rethrow_exception(thrown), TryAgainError);
}

TEST_CASE("a checkpoint of another network is refused by name", "[unit][train]") {
  Run run;
  run.train(400);
  const auto before = run.checkpoint_names();
  run.config().network.readout_width = 32;
  CHECK_THROWS_WITH(run.session(),
                    Catch::Contains("checkpoint-000000000001.safetensors is a checkpoint of "
                                    "another network: readout.weight is [16, 12] in it and [32, "
                                    "12] in this network"));
  CHECK(run.checkpoint_names() == before);
}

TEST_CASE("a damaged checkpoint is passed over for the one before it", "[unit][train]") {
  Run run;
  run.train(800);
  fs::resize_file(run.checkpoint_folder() / "checkpoint-000000000002.safetensors", 100);
  run.train(400);
  // One update from the first checkpoint, which had none.
  CHECK(run.newest().counters.at("updates") == 1);
  // Who looks at the run reads it, too, and not in its log alone.
  const auto faults = run.metrics().back()["faults"];
  CHECK(faults["checkpoint_failures"] == 1);
  CHECK_THAT(faults["last"].get<std::string>(),
             Catch::Contains("checkpoint-000000000002.safetensors") &&
                 Catch::Contains("going on from") &&
                 Catch::Contains("checkpoint-000000000000.safetensors"));
}

TEST_CASE("a run that was cut off between its best policy and the checkpoint keeps that policy",
          "[unit][train]") {
  Run run;
  run.train(800);
  const auto layout = layout_of(run.config());
  const auto best_file = run.checkpoint_folder() / "best.safetensors";
  auto best = learner::load_checkpoint(best_file, layout);
  best.best_score = 0;  // no job blocked: no later policy is better
  learner::CheckpointFolder folder(run.checkpoint_folder(), 5);
  REQUIRE(folder.save_best(best, layout));
  auto last = run.newest();
  last.best_score = GENERATE(std::optional<double>(1.0), std::optional<double>());
  REQUIRE(folder.save(last, layout));
  run.train(2'000);
  CHECK(learner::load_checkpoint(best_file, layout) == best);
  CHECK(run.newest().best_score == 0.0);
  CHECK(run.metrics().back()["evaluation"]["best"] == 0.0);
}

TEST_CASE("an update that is skipped now and then keeps no checkpoint from being made",
          "[unit][train]") {
  Run run(config_of_small_updates());
  TrainingSession& session = run.session();
  session.begin();
  REQUIRE(session.step({}));
  const float sound = newest_network->parameters()[0];
  const auto diverge = [] { newest_network->parameters()[0] = std::numeric_limits<float>::max(); };
  diverge();
  REQUIRE(session.step({}));
  newest_network->parameters()[0] = sound;  // it goes on after all
  SECTION("the last one") {
    session.finish();
    CHECK(run.newest().counters.at("updates") == 1);
    CHECK(run.newest().counters.at("skipped") == 1);
  }
  SECTION("one that was asked for while learning is stuck, once it goes on") {
    diverge();
    for (int i = 0; i < 4; ++i) REQUIRE(session.step({}));
    session.request_checkpoint();
    REQUIRE(session.step({}));
    CHECK(run.newest().counters.at("updates") == 0);
    newest_network->parameters()[0] = sound;
    REQUIRE(session.step({}));
    run.wait_for_checkpoint(2);
  }
}

TEST_CASE("a run that is resumed without a limit keeps its place in its schedules",
          "[unit][train]") {
  Run run;
  run.options().decisions = 4'000;
  TrainingSession& session = run.session();
  session.begin();
  while (session.step({})) {
    if (session.status()["decisions"] >= 2'000) break;
  }
  session.finish();
  CHECK(run.newest().algorithm.reals.at("run.share") == Approx(0.5));
  CHECK(run.newest().algorithm.reals.at("run.decisions") == 0);
  run.options().decisions.reset();
  TrainingSession& resumed = run.session();
  resumed.begin();
  CHECK(resumed.step({}));
  resumed.finish();
  CHECK(run.newest().algorithm.reals.at("run.share") == Approx(0.5));
  CHECK(run.newest().algorithm.reals.at("run.decisions") == 400);
}

TEST_CASE("a checkpoint from before its place in the run was in it says it all the same",
          "[unit][train]") {
  Run run;
  run.train(2'000);
  learner::Checkpoint old = run.newest();
  old.algorithm.reals.erase("run.share");
  old.algorithm.reals.erase("run.decisions");
  // The share of its run, where that had an end.
  const std::int64_t millionths = GENERATE(0, 500'000);
  old.counters["millionths_of_run"] = millionths;
  REQUIRE(learner::CheckpointFolder(run.checkpoint_folder(), 3).save(old, layout_of(run.config())));
  run.options().decisions.reset();
  run.session().finish();
  const auto reals = run.newest().algorithm.reals;
  CHECK(reals.at("run.share") == static_cast<double>(millionths) / 1e6);
  CHECK(reals.at("run.decisions") == (millionths == 0 ? 2'000 : 0));
}

TEST_CASE("the best policy is kept when a later one is worse", "[unit][train]") {
  Run run;
  run.train(400);
  const auto layout = layout_of(run.config());
  const auto first = learner::load_checkpoint(run.checkpoint_folder() / "best.safetensors", layout);
  for (std::int64_t decisions = 800; decisions <= 2'400; decisions += 400) {
    run.train(decisions);
    const auto best =
        learner::load_checkpoint(run.checkpoint_folder() / "best.safetensors", layout);
    REQUIRE(best.best_score <= first.best_score);
    REQUIRE(run.newest().best_score == best.best_score);
  }
}

}  // namespace
}  // namespace pacml::apps
