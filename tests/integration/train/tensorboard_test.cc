// What `pacml train` leaves for TensorBoard, by a reader of its own.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/event_reader.h"
#include "tests/support/pacml_process.h"

namespace pacml {
namespace {

namespace fs = std::filesystem;
using testing::EventFile;
using testing::Outcome;
using testing::pacml;
using testing::Workplace;

std::vector<EventFile> events_of(const Workplace& place) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place / "run" / "tensorboard")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<EventFile> all;
  for (const fs::path& file : files) {
    INFO(file.string());
    auto events = testing::read_events(testing::text_of(file));
    REQUIRE(events);
    CHECK(events->rest.empty());
    all.push_back(*std::move(events));
  }
  return all;
}

void train(const Workplace& place, const std::vector<std::string>& options) {
  std::vector<std::string> words = {"train", place.config_file(), "--run", place.run(),
                                    "--deterministic"};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = pacml(words);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
}

TEST_CASE("TensorBoard's files say what metrics.jsonl says, and go on with a resumed run",
          "[integration][train]") {
  const Workplace place;
  train(place, {"--decisions", "2000"});
  train(place, {"--decisions", "4000", "--resume"});
  const auto files = events_of(place);
  REQUIRE(files.size() == 2);
  CHECK(files[0].session_starts == std::vector<std::int64_t>{1});
  CHECK(files[1].session_starts == std::vector<std::int64_t>{2001});

  const auto lines = place.metrics();
  const auto& last = lines.back();
  const auto& best = files[1].scalars.at("evaluation/best");
  CHECK(best.back().first == last["decisions"]);
  CHECK(best.back().second == Approx(last["evaluation"]["best"].get<double>()));
  for (const char* tag : {"learning/loss", "learning/entropy", "episode/blocking_rate",
                          "evaluation/best_baseline", "speed/decisions_per_second", "lag/p99"}) {
    INFO(tag);
    CHECK(files[0].scalars.contains(tag));
  }
  double actions = 0;
  for (const EventFile& file : files) {
    for (const auto& [step, histogram] : file.histograms.at("actions")) {
      actions += histogram.number<double>(3);
    }
    CHECK(file.hparams.contains("_hparams_/session_start_info"));
    CHECK(file.hparams.contains("_hparams_/session_end_info"));
  }
  CHECK(actions == last["decisions"].get<double>());
}

TEST_CASE("TensorBoard's files follow one another though the clock was set back in between",
          "[integration][train]") {
  const Workplace place;
  train(place, {"--decisions", "400"});
  const fs::path folder = place / "run" / "tensorboard";
  const fs::path first = fs::directory_iterator(folder)->path();
  fs::rename(first, folder / "events.out.tfevents.4102444800.999999.1");  // in the year 2100
  train(place, {"--decisions", "800", "--resume"});
  const auto files = events_of(place);
  REQUIRE(files.size() == 2);
  CHECK(files[0].session_starts == std::vector<std::int64_t>{1});
  CHECK(files[1].session_starts.at(0) > 1);
}

TEST_CASE("learner.tensorboard: false leaves no such files", "[integration][train]") {
  const Workplace place;
  train(place, {"--decisions", "400", "--set", "learner.tensorboard=false"});
  CHECK_FALSE(fs::exists(place / "run" / "tensorboard"));
}

}  // namespace
}  // namespace pacml
