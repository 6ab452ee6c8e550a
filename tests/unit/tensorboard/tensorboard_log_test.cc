#include "apps/tensorboard/tensorboard_log.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/event_reader.h"
#include "tests/support/small_disk.h"
#include "tests/support/temp_dir.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using testing::EventFile;
using testing::TempDir;

const std::vector<std::int64_t> kActions = {0, 0, 3, 0, 5};

json line_of(double score) {
  return {{"decisions", 100},
          {"decisions_per_second", 2.5},
          {"loss", 0.5},
          {"entropy", 0.25},
          {"updates", 7},
          {"return", nullptr},
          {"policy_lag", {{"p99", 3}}},
          {"episode", {{"blocking_rate", 0.125}, {"mean_jct", nullptr}}},
          {"evaluation",
           {{"objective", "blocking_rate"},
            {"score", score},
            {"baseline", {{"name", "rule"}, {"score", 0.5}}}}},
          {"peers", json::array({{{"actor", 0}}})}};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

EventFile events_of(const std::filesystem::path& file) {
  const auto events = testing::read_events(testing::text_of(file));
  REQUIRE(events);
  CHECK(events->rest.empty());
  return *events;
}

TEST_CASE("the numbers of a line of metrics have sensible tags", "[tensorboard]") {
  std::vector<std::string> tags;
  for (const TaggedScalar& scalar : scalars_of(line_of(0.25))) tags.push_back(scalar.tag);
  CHECK(tags == std::vector<std::string>{"count/updates", "episode/blocking_rate",
                                         "evaluation/best_baseline", "evaluation/score", "lag/p99",
                                         "learning/entropy", "learning/loss",
                                         "speed/decisions_per_second"});
  CHECK(scalars_of(json::array()).empty());
  CHECK(scalars_of({{"loss", std::numeric_limits<double>::infinity()}}).empty());
  json many = json::object();
  for (int i = 0; i < 1000; ++i) many["scalar" + std::to_string(i)] = i;
  CHECK(scalars_of(many).size() == kMostTags);
}

TEST_CASE("a run's curves, actions and settings come back by an independent reader",
          "[tensorboard]") {
  const TempDir folder;
  ManualClock clock;
  {
    TensorboardLog log(folder / "tensorboard",
                       "seed: 3\nalgorithm: ppo\nenv: {task: partitioning, fast: true}\n", 50,
                       clock);
    log.write(100, line_of(0.25), kActions);
    clock.advance(std::chrono::seconds{2});
    log.finish(200, line_of(0.125), kActions);
  }
  const auto files = files_in(folder / "tensorboard");
  REQUIRE(files.size() == 1);
  CHECK_THAT(files[0].filename().string(), Catch::StartsWith("events.out.tfevents."));
  const EventFile events = events_of(files[0]);
  CHECK(events.events.at(0).text(3) == "brain.Event:2");
  CHECK(events.events[0].number<double>(1) > 1.7e9);
  CHECK(events.session_starts == std::vector<std::int64_t>{51});
  CHECK(events.scalars.at("evaluation/score") ==
        std::vector<std::pair<std::int64_t, float>>{{100, 0.25F}, {200, 0.125F}});
  CHECK(events.scalars.at("lag/p99")[0].second == 3);

  const auto& histogram = events.histograms.at("actions").at(0).second;
  CHECK(histogram.number<double>(1) == 2);  // least
  CHECK(histogram.number<double>(2) == 4);  // most
  CHECK(histogram.number<double>(3) == 8);  // how many
  CHECK(histogram.number<double>(4) == 3 * 2 + 5 * 4);
  CHECK(histogram.number<double>(5) == 3 * 4 + 5 * 16);
  CHECK(histogram.doubles(6) == std::vector<double>{1.5, 2.5, 3.5, 4.5});
  CHECK(histogram.doubles(7) == std::vector<double>{0, 3, 0, 5});

  const auto started = events.hparams.at("_hparams_/session_start_info").message(3);
  std::map<std::string, testing::WireMessage> settings;
  for (const std::string& entry : started.all(1)) {
    const testing::WireMessage pair(entry);
    settings.emplace(pair.text(1), pair.message(2));
  }
  CHECK(settings.size() == 4);
  CHECK(settings.at("seed").number<double>(2) == 3);
  CHECK(settings.at("algorithm").text(3) == "ppo");
  CHECK(settings.at("env.fast").number<std::uint64_t>(4) == 1);
  CHECK(events.hparams.at("_hparams_/experiment").message(2).all(4).size() == 4);
  const auto ended = events.hparams.at("_hparams_/session_end_info").message(4);
  CHECK(ended.number<std::uint64_t>(1) == 1);  // success
}

TEST_CASE("each process of a run writes a file of its own, later ones after earlier ones",
          "[tensorboard]") {
  const TempDir folder;
  ManualClock clock;
  for (const std::int64_t step : {0, 40}) {
    TensorboardLog log(folder.path(), "seed: 1\n", step, clock);
    log.write(step + 10, line_of(0.5), {});
  }
  const auto files = files_in(folder.path());
  REQUIRE(files.size() == 2);
  CHECK(events_of(files[0]).session_starts == std::vector<std::int64_t>{1});
  CHECK(events_of(files[1]).session_starts == std::vector<std::int64_t>{41});
  CHECK(events_of(files[1]).scalars.at("learning/loss")[0].first == 50);
}

TEST_CASE("points get rarer with a process's age, and no action is lost", "[tensorboard]") {
  const TempDir folder;
  ManualClock clock;
  TensorboardLog log(folder.path(), "seed: 1\n", 0, clock);
  constexpr int kLines = 20'000;
  for (int i = 1; i <= kLines; ++i) {
    log.write(i, {{"loss", 1.0}}, kActions);
    clock.advance(std::chrono::seconds{2});
  }
  log.finish(kLines + 1, {{"loss", 1.0}}, {});
  const EventFile events = events_of(files_in(folder.path()).at(0));
  const std::size_t points = events.scalars.at("learning/loss").size();
  CHECK(points > 500);
  CHECK(points < 5000);
  double actions = 0;
  for (const auto& [step, histogram] : events.histograms.at("actions")) {
    actions += histogram.number<double>(3);
  }
  CHECK(actions == 8.0 * kLines);
}

TEST_CASE("a folder that cannot be made ends nothing, and is tried again", "[tensorboard]") {
  const TempDir folder;
  ManualClock clock;
  REQUIRE(write_file_atomically(folder / "tensorboard", "in the way"));
  TensorboardLog log(folder / "tensorboard", "seed: 1\n", 0, clock);
  log.write(1, line_of(0.5), kActions);
  std::filesystem::remove(folder / "tensorboard");
  log.finish(2, line_of(0.25), kActions);
  const EventFile events = events_of(files_in(folder / "tensorboard").at(0));
  CHECK(events.events.at(0).text(3) == "brain.Event:2");
  CHECK(events.scalars.at("evaluation/score") ==
        std::vector<std::pair<std::int64_t, float>>{{2, 0.25F}});
  CHECK(events.histograms.at("actions").at(0).second.number<double>(3) == 16);
}

TEST_CASE("a file that a full disk cut at its beginning gets one when there is room",
          "[tensorboard]") {
  const TempDir folder;
  ManualClock clock;
  std::optional<testing::SmallDisk> full(64);
  TensorboardLog log(folder.path(), "seed: 1\n", 40, clock);
  log.write(50, line_of(0.5), kActions);
  full.reset();
  clock.advance(std::chrono::seconds{1});
  log.write(60, line_of(0.25), kActions);
  const EventFile events = events_of(files_in(folder.path()).at(0));
  CHECK(events.events.at(0).text(3) == "brain.Event:2");
  CHECK(events.session_starts == std::vector<std::int64_t>{41});
  CHECK(events.hparams.contains("_hparams_/session_start_info"));
  CHECK(events.scalars.at("evaluation/score") ==
        std::vector<std::pair<std::int64_t, float>>{{60, 0.25F}});
}

}  // namespace
}  // namespace pacml::apps
