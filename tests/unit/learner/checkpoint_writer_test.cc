#include "learner/checkpoint_writer.h"

#include <filesystem>
#include <fstream>
#include <optional>

#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::learner {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

model::ParameterLayout small_layout() {
  model::NetworkConfig config;
  config.rounds = 1;
  config.message_width = 2;
  config.node_width = 1;
  config.graph_width = 1;
  config.readout_width = 3;
  return model::make_layout({config, {{2, 2}}, 1, 2});
}

Checkpoint checkpoint_of(std::int64_t updates, std::optional<double> score = {}) {
  Checkpoint out;
  out.algorithm.algorithm = "impala";
  out.algorithm.vectors["parameters"].assign(small_layout().total, 1.0F);
  out.counters = {{"updates", updates}};
  out.best_score = score;
  return out;
}

Checkpoint newest(const fs::path& folder) {
  return load_newest(CheckpointFolder(folder, 1), small_layout()).checkpoint;
}
Checkpoint best(const fs::path& folder) {
  return load_checkpoint(folder / "best.safetensors", small_layout());
}

// Where the folder should be: no write can succeed, not even for root.
void put_file_in_the_way(const fs::path& folder) {
  fs::remove_all(folder);
  std::ofstream(folder) << "in the way";
}

TEST_CASE("what was handed over is on the disk after draining", "[unit][learner][checkpoint]") {
  const TempDir place;
  CheckpointWriter writer(CheckpointFolder(place / "c", 2), small_layout(), {});
  CHECK(writer.drain());  // nothing to wait for
  writer.save(checkpoint_of(1));
  REQUIRE(writer.drain());
  CHECK(newest(place / "c") == checkpoint_of(1));
  CHECK(writer.status().failures == 0);
  CHECK(writer.status().age_seconds < 60);
}

TEST_CASE("of many checkpoints the newest is written, and those before may be left out",
          "[unit][learner][checkpoint]") {
  const TempDir place;
  CheckpointWriter writer(CheckpointFolder(place / "c", 1'000), small_layout(), {});
  for (std::int64_t updates = 1; updates <= 500; ++updates) writer.save(checkpoint_of(updates));
  REQUIRE(writer.drain());
  CHECK(newest(place / "c") == checkpoint_of(500));
  CHECK(CheckpointFolder(place / "c", 1).list().size() < 500);  // it did not wait for the disk
}

TEST_CASE("a writer that ends writes what it still has", "[unit][learner][checkpoint]") {
  const TempDir place;
  {
    CheckpointWriter writer(CheckpointFolder(place / "c", 1), small_layout(), {});
    writer.save(checkpoint_of(3));
    writer.save_best(checkpoint_of(2, 0.5));
  }
  CHECK(newest(place / "c").counters.at("updates") == 3);
  CHECK(best(place / "c").counters.at("updates") == 2);
}

TEST_CASE(
    "a checkpoint that cannot be written is an error of the drain, counted, and forgotten by "
    "the next success",
    "[unit][learner][checkpoint]") {
  const TempDir place;
  CheckpointWriter writer(CheckpointFolder(place / "c", 1), small_layout(), {});
  put_file_in_the_way(place / "c");
  writer.save(checkpoint_of(1));
  const auto failed = writer.drain();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == Errc::kIo);
  CHECK_THAT(failed.error().detail, Catch::Contains((place / "c").string()));
  CHECK(writer.status().failures == 1);
  CHECK(writer.status().failing);
  CHECK(writer.status().last == failed.error().detail);

  fs::remove(place / "c");
  writer.save(checkpoint_of(2));
  CHECK(writer.drain());
  CHECK(writer.status().failures == 1);
  CHECK_FALSE(writer.status().failing);
  CHECK(newest(place / "c").counters.at("updates") == 2);
}

TEST_CASE("a best policy that could not be written is tried again with the next checkpoint",
          "[unit][learner][checkpoint]") {
  const TempDir place;
  CheckpointWriter writer(CheckpointFolder(place / "c", 1), small_layout(), 0.7);
  fs::create_directories(place / "c" / "best.safetensors" / "in the way");
  writer.save_best(checkpoint_of(1, 0.6));
  CHECK_FALSE(writer.drain());
  writer.save(checkpoint_of(2, 0.6));
  CHECK_FALSE(writer.drain());
  CHECK(writer.status().failures == 2);
  // Whoever resumes from it knows that the best policy there is the former one.
  CHECK(newest(place / "c").best_score == 0.7);

  fs::remove_all(place / "c" / "best.safetensors");
  writer.save(checkpoint_of(3, 0.6));
  CHECK(writer.drain());
  CHECK(best(place / "c") == checkpoint_of(1, 0.6));
  CHECK(newest(place / "c").best_score == 0.6);
}

}  // namespace
}  // namespace pacml::learner
