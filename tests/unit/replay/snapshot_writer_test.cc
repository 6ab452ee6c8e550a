#include "replay/snapshot_writer.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "common/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

Block records(std::size_t length) { return {BlockKind::kRecords, Bytes(length, std::byte{1})}; }

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

// Offers a block until the thread has taken the ones before.
void give(SnapshotWriter& writer, Block block) {
  while (!writer.try_take(block)) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a snapshot's file appears when it is complete") {
  const testing::TempDir folder;
  const auto path = folder / "table";
  SnapshotWriter writer(path, 2);
  for (int i = 0; i < 10; ++i) give(writer, records(1000));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_FALSE(writer.done());
  writer.finish();
  const auto size = writer.wait();
  REQUIRE(size.has_value());
  CHECK(writer.done());
  CHECK(*size == 8 + 10 * (16 + 1000));
  CHECK(std::filesystem::file_size(path) == *size);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a snapshot that is given up leaves the older one and nothing else") {
  const testing::TempDir folder;
  const auto path = folder / "table";
  REQUIRE(write_file_atomically(path, "older").has_value());
  {
    SnapshotWriter writer(path);
    give(writer, records(1000));
  }
  CHECK(read_file(path).value() == "older");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("half a snapshot that a killed shard left goes with the next one of that shard") {
  const testing::TempDir folder;
  const auto path = folder / "shard-0";
  // As common/atomic_file.cc calls what is not complete.
  const auto left = folder / ".shard-0.pacml-a1B2c3";
  const auto of_another = folder / ".shard-1.pacml-a1B2c3";
  REQUIRE(write_file_atomically(path, "older").has_value());
  for (const auto& half : {left, of_another}) std::ofstream(half) << "half";
  SnapshotWriter writer(path);
  give(writer, records(1000));
  writer.finish();
  const auto size = writer.wait();
  REQUIRE(size.has_value());
  CHECK(std::filesystem::file_size(path) == *size);
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(of_another));  // its own next one's to remove
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a snapshot that cannot be written says so and takes every block") {
  const testing::TempDir folder;
  SnapshotWriter writer(folder / "missing" / "table", 1);
  for (int i = 0; i < 10; ++i) give(writer, records(1000));
  writer.finish();
  const auto size = writer.wait();
  REQUIRE_FALSE(size.has_value());
  CHECK(size.error().code == Errc::kIo);
  CHECK(size.error().detail.find("missing/table") != std::string::npos);
}
