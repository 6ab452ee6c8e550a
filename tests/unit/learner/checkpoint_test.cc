#include "learner/checkpoint.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/atomic_file.h"
#include "common/try_again.h"
#include "model/layout.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

namespace pacml::learner {
namespace {

namespace fs = std::filesystem;

model::ParameterLayout small_layout(int readout_width = 3) {
  model::NetworkConfig config;
  config.rounds = 1;
  config.message_width = 2;
  config.node_width = 1;
  config.graph_width = 1;
  config.readout_width = readout_width;
  return model::make_layout({config, {{2, 2}}, 1, 2});
}

Checkpoint example(std::int64_t updates = 7) {
  const std::size_t total = small_layout().total;
  Checkpoint out;
  out.algorithm.algorithm = "impala";
  auto& weights = out.algorithm.vectors["parameters"];
  auto& mean = out.algorithm.vectors["optimizer.mean"];
  for (std::size_t i = 0; i < total; ++i) {
    weights.push_back(1.0F / static_cast<float>(i + 3));
    mean.push_back(-1e-30F * static_cast<float>(i));
  }
  out.algorithm.vectors["none"] = {};
  out.algorithm.vectors["short"] = {1, 2};
  out.algorithm.reals = {{"a", 1.0 / 3},
                         {"b", -0.0},
                         {"c", std::numeric_limits<double>::max()},
                         {"d", std::numeric_limits<double>::denorm_min()},
                         {"e", -0x1.5ap-3}};
  out.algorithm.counts = {{"updates", updates}, {"large", INT64_MAX}};
  out.counters = {{"updates", updates}, {"decisions", 1'234'567'890'123}};
  out.run_id = "run-1";
  out.config_text = "learner:\n  name: \"x\"\n";
  out.config_hash = 0xfedcba9876543210ULL;
  out.best_score = -0.221;
  return out;
}

TEST_CASE("a checkpoint reads back bit for bit", "[unit][learner]") {
  const auto layout = small_layout();
  const Checkpoint written = example();
  const auto read = decode_checkpoint(encode_checkpoint(written, layout), layout);
  REQUIRE(read);
  REQUIRE(*read == written);
  REQUIRE(std::signbit(read->algorithm.reals.at("b")));

  Checkpoint bare;
  bare.algorithm.vectors["parameters"].resize(layout.total);
  REQUIRE(decode_checkpoint(encode_checkpoint(bare, layout), layout) == bare);
}

TEST_CASE("a checkpoint cut short anywhere is refused", "[unit][learner]") {
  const auto layout = small_layout();
  const std::string bytes = encode_checkpoint(example(), layout);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("first " << size << " bytes");
    REQUIRE_FALSE(decode_checkpoint(std::string_view(bytes).substr(0, size), layout));
  }
}

TEST_CASE("a checkpoint with any byte changed is refused or unchanged", "[unit][learner]") {
  const auto layout = small_layout();
  const Checkpoint written = example();
  const std::string bytes = encode_checkpoint(written, layout);
  const int flip = GENERATE(0x01, 0x20, 0x80);
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    INFO("byte " << i);
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ flip);
    const auto read = decode_checkpoint(changed, layout);
    if (read) {
      REQUIRE(*read == written);
    } else {
      ++refused;
    }
  }
  REQUIRE(refused > static_cast<int>(bytes.size()) - 16);  // a blank of the padding says nothing
}

TEST_CASE("a checkpoint of another network is told apart, and how", "[unit][learner]") {
  const auto read =
      decode_checkpoint(encode_checkpoint(example(), small_layout()), small_layout(5));
  REQUIRE_FALSE(read);
  REQUIRE(read.error().code == Errc::kVersionMismatch);
  REQUIRE(read.error().detail ==
          "is a checkpoint of another network: readout.weight is [3, 2] in it and [5, 2] in this "
          "network");
}

TEST_CASE("text that is no UTF-8 does not make a checkpoint unreadable", "[unit][learner]") {
  const auto layout = small_layout();
  Checkpoint written = example();
  written.config_text = "profiles: \"/data/\xff\xfe\"\n";
  const auto read = decode_checkpoint(encode_checkpoint(written, layout), layout);
  REQUIRE(read);
  REQUIRE(read->algorithm == written.algorithm);
}

TEST_CASE("a folder keeps the newest checkpoints and the best one", "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  const fs::path where = temporary.path() / "run" / "checkpoints";
  CheckpointFolder folder(where, 2);
  REQUIRE(folder.list().empty());
  // A run's folder that is gone stays so.
  const auto lost = folder.save(example(8), layout);
  REQUIRE_FALSE(lost);
  CHECK_THAT(lost.error().detail, Catch::Contains("cannot make the folder"));
  REQUIRE(fs::create_directory(where.parent_path()));
  REQUIRE(folder.save_best(example(1), layout));
  for (const std::int64_t updates : {9, 10, 11, 1000}) {
    REQUIRE(folder.save(example(updates), layout));
  }
  REQUIRE(folder.list() == std::vector<fs::path>{where / "checkpoint-000000001000.safetensors",
                                                 where / "checkpoint-000000000011.safetensors"});
  REQUIRE(load_checkpoint(folder.best_file(), layout) == example(1));
  const LoadedCheckpoint newest = load_newest(folder, layout);
  REQUIRE(newest.checkpoint == example(1000));
  REQUIRE(newest.file == folder.list().front());
  REQUIRE(newest.skipped.empty());
}

TEST_CASE("what a killed write left behind goes with the next checkpoint", "[unit][learner]") {
  const testing::TempDir temporary;
  CheckpointFolder folder(temporary.path(), 1);
  const fs::path left = temporary.path() / ".checkpoint-000000000001.safetensors.pacml-a1B2c3";
  const fs::path other = temporary.path() / ".hidden";
  std::ofstream(left) << "half";
  std::ofstream(other) << "not ours";
  REQUIRE(folder.save(example(), small_layout()));
  REQUIRE_FALSE(fs::exists(left));
  REQUIRE(fs::exists(other));
}

TEST_CASE("a damaged newest checkpoint is skipped with a sentence", "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  CheckpointFolder folder(temporary.path(), 3);
  REQUIRE(folder.save(example(1), layout));
  const auto newest = folder.save(example(2), layout);
  REQUIRE(newest);
  fs::resize_file(*newest, 100);
  const LoadedCheckpoint loaded = load_newest(folder, layout);
  REQUIRE(loaded.checkpoint == example(1));
  REQUIRE(loaded.skipped ==
          std::vector{newest->string() + " is cut short or not a safetensors file"});
}

TEST_CASE("a newest checkpoint that cannot be read now is no reason to take an older one",
          "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  CheckpointFolder folder(temporary.path(), 3);
  REQUIRE(folder.save(example(1), layout));
  const fs::path newest = temporary.path() / "checkpoint-000000000002.safetensors";
  fs::create_symlink("/proc/self/mem", newest);  // opens, and answers each read with EIO
  CHECK_THROWS_AS(load_newest(folder, layout), TryAgainError);
  CHECK_THROWS_WITH(load_newest(folder, layout),
                    Catch::StartsWith("cannot read " + newest.string()));
  fs::remove(newest);
  CHECK(load_newest(folder, layout).checkpoint == example(1));
}

TEST_CASE("a file that is not what its name says neither blocks the others nor takes their place",
          "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  CheckpointFolder folder(temporary.path(), 1);
  const fs::path stray = temporary.path() / "checkpoint-999999999999.safetensors";
  const auto check_newest = [&](std::int64_t updates) {
    const LoadedCheckpoint loaded = load_newest(folder, layout);
    CHECK(loaded.checkpoint == example(updates));
    REQUIRE(loaded.skipped.size() == 1);
    CHECK(loaded.skipped[0].find(stray.string()) != std::string::npos);
  };
  SECTION("a copy of another checkpoint") {
    const auto written = folder.save(example(1), layout);
    REQUIRE(written);
    fs::copy_file(*written, stray);
  }
  SECTION("of another network") {
    Checkpoint other = example(7);
    for (auto& [name, values] : other.algorithm.vectors) values.resize(small_layout(5).total);
    REQUIRE(write_file_atomically(stray, encode_checkpoint(other, small_layout(5))));
  }
  SECTION("no checkpoint") { std::ofstream(stray) << "stray"; }
  SECTION("a folder") { fs::create_directory(stray); }
  for (const std::int64_t updates : {2, 3}) {
    REQUIRE(folder.save(example(updates), layout));
    check_newest(updates);
  }
  CHECK(folder.list().size() == 2);  // the newest one, and what is not ours
}

TEST_CASE("what is not finite is neither written nor read", "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  CheckpointFolder folder(temporary.path(), 3);
  REQUIRE(folder.save(example(1), layout));
  Checkpoint diverged = example(2);
  diverged.algorithm.vectors.at("parameters")[1] = std::numeric_limits<float>::quiet_NaN();
  const auto written = folder.save(diverged, layout);
  REQUIRE_FALSE(written);
  CHECK(written.error().detail.find("are not finite") != std::string::npos);
  CHECK(folder.list().size() == 1);
  // As a version before this one may have written it.
  const fs::path file = temporary.path() / "checkpoint-000000000002.safetensors";
  REQUIRE(write_file_atomically(file, encode_checkpoint(diverged, layout)));
  const LoadedCheckpoint loaded = load_newest(folder, layout);
  CHECK(loaded.checkpoint == example(1));
  REQUIRE(loaded.skipped.size() == 1);
  CHECK(loaded.skipped[0].find("training that had diverged") != std::string::npos);
}

TEST_CASE("what cannot be loaded is one sentence for the user", "[unit][learner]") {
  const testing::TempDir temporary;
  const auto layout = small_layout();
  CheckpointFolder folder(temporary.path(), 3);
  const auto sentence = [](auto action) {
    try {
      action();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  REQUIRE(sentence([&] { static_cast<void>(load_newest(folder, layout)); }) ==
          "there is no checkpoint in " + temporary.path().string());
  REQUIRE(folder.save(example(), layout));
  REQUIRE(sentence([&] {
            static_cast<void>(load_newest(folder, small_layout(5)));
          }).find("is a checkpoint of another network") != std::string::npos);
  REQUIRE(write_file_atomically(folder.list().front(), "no checkpoint at all"));
  REQUIRE(sentence([&] {
            static_cast<void>(load_newest(folder, layout));
          }).find("there is no whole checkpoint in") == 0);
  REQUIRE(sentence([&] {
            static_cast<void>(load_checkpoint(temporary.path() / "gone", layout));
          }).find("gone") != std::string::npos);
}

TEST_CASE("a folder that cannot be written is an error, and training can go on",
          "[unit][learner]") {
  const testing::TempDir temporary;
  const fs::path file = temporary.path() / "file";
  std::ofstream(file) << "in the way";
  CheckpointFolder folder(file / "checkpoints", 1);
  const auto written = folder.save(example(), small_layout());
  REQUIRE_FALSE(written);
  REQUIRE(written.error().code == Errc::kIo);
  REQUIRE(written.error().detail.find((file / "checkpoints").string()) != std::string::npos);
}

}  // namespace
}  // namespace pacml::learner
