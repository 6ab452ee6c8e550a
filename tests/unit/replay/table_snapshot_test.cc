#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "replay/snapshot.h"
#include "replay/snapshot_writer.h"
#include "tests/support/block_list.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace pacml;
using namespace pacml::replay;
using pacml::testing::BlockList;

namespace {

TableConfig small() {
  TableConfig config;
  config.capacity = 16;
  config.min_size = 1;
  return config;
}

Table filled(const TableConfig& config, int items) {
  Table table(config, Seed{1});
  for (int i = 0; i < items; ++i) {
    REQUIRE(table.insert(Bytes(8, std::byte(i)), 1.0 + i).has_value());
  }
  return table;
}

// What a draw of each item shows, in the order of the table's draws.
std::vector<std::pair<std::uint64_t, int>> draws(Table& table, std::size_t n) {
  std::vector<SampledItem> items(n);
  items.resize(table.sample(items));
  std::vector<std::pair<std::uint64_t, int>> seen;
  for (const auto& item : items) {
    seen.emplace_back(item.key.pack(), std::to_integer<int>(item.payload.front()));
  }
  return seen;
}

void run_to_end(Table& table) {
  while (!table.advance_snapshot(3)) {
  }
}

}  // namespace

TEST_CASE("a snapshot in a file gives back the table and its owner's bytes") {
  const testing::TempDir folder;
  const auto path = folder / "table";
  Table table = filled(small(), 20);
  const Bytes extra(5, std::byte{9});
  {
    SnapshotWriter writer(path);
    table.begin_snapshot(extra, writer);
    CHECK(table.snapshot_running());
    run_to_end(table);
    CHECK_FALSE(table.snapshot_running());
    writer.finish();
    REQUIRE(writer.wait().has_value());
  }
  auto restored = restore_table(path, small());
  CHECK(restored.extra == extra);
  CHECK(restored.table.size() == 16);
  CHECK(restored.table.bytes() == table.bytes());
  CHECK(restored.table.counters() == table.counters());
  CHECK(draws(restored.table, 50) == draws(table, 50));
}

TEST_CASE("a snapshot is of the moment at which it began") {
  Table table = filled(small(), 16);
  BlockList blocks;
  table.begin_snapshot({}, blocks);
  static_cast<void>(table.advance_snapshot(3));
  const auto later = draws(table, 10);
  for (int i = 0; i < 40; ++i) {
    REQUIRE(table.insert(Bytes(16, std::byte{99}), 5.0).has_value());  // everything is replaced
  }
  run_to_end(table);
  auto in = blocks.stream();
  auto restored = read_snapshot(in, small());
  REQUIRE(restored.has_value());
  CHECK(restored->table.counters().sampled == 0);
  CHECK(restored->table.counters().inserted == 16);
  CHECK(draws(restored->table, 10) == later);
}

TEST_CASE("a snapshot waits while its sink is behind, and operations do not") {
  Table table = filled(small(), 16);
  BlockList blocks;
  blocks.behind = true;
  table.begin_snapshot({}, blocks);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(table.advance_snapshot(10));
  for (int i = 0; i < 100; ++i) REQUIRE(table.insert(Bytes(8, std::byte{1}), 1.0).has_value());
  CHECK(blocks.blocks.empty());
  blocks.behind = false;
  run_to_end(table);
  auto in = blocks.stream();
  CHECK(read_snapshot(in, small()).has_value());
}

TEST_CASE("the copying waits for a sink that is behind: one block is held, not the table") {
  TableConfig config = small();
  config.capacity = 64;
  Table table(config, Seed{1});
  constexpr std::size_t kItemBytes = std::size_t{256} << 10;
  for (int i = 0; i < 64; ++i) {
    REQUIRE(table.insert(Bytes(kItemBytes, std::byte(i)), 1.0).has_value());
  }
  BlockList blocks;
  table.begin_snapshot({}, blocks);
  static_cast<void>(table.advance_snapshot(1));
  REQUIRE(blocks.blocks.size() == 1);  // the header
  blocks.behind = true;
  CHECK_FALSE(table.advance_snapshot(table.size() + 1));
  blocks.behind = false;
  static_cast<void>(table.advance_snapshot(0));
  CHECK(blocks.blocks.size() == 2);
  CHECK(blocks.blocks.back().bytes.size() < 6 * kItemBytes);
  // Where the sink keeps up, it has all of it at once.
  CHECK(table.advance_snapshot(table.size() + 1));
  auto in = blocks.stream();
  CHECK(read_snapshot(in, config).has_value());
}

TEST_CASE("an empty table has a snapshot") {
  Table table(small(), Seed{1});
  BlockList blocks;
  table.begin_snapshot({}, blocks);
  run_to_end(table);
  auto in = blocks.stream();
  const auto restored = read_snapshot(in, small());
  REQUIRE(restored.has_value());
  CHECK(restored->table.size() == 0);
}

TEST_CASE("a snapshot of other settings is refused, and the sentence names them") {
  Table table = filled(small(), 4);
  BlockList blocks;
  table.begin_snapshot({}, blocks);
  run_to_end(table);
  TableConfig other = small();
  other.capacity = 32;
  auto in = blocks.stream();
  const auto restored = read_snapshot(in, other);
  REQUIRE_FALSE(restored.has_value());
  CHECK(restored.error().code == Errc::kVersionMismatch);
  CHECK(restored.error().detail.find("capacity: 32 here, 16 there") != std::string::npos);
}

TEST_CASE("a damaged file is one sentence with its name") {
  const testing::TempDir folder;
  const auto path = folder / "table";
  std::ofstream(path) << "PACMLRT\x03 no more";
  CHECK_THROWS_WITH(restore_table(path, small()),
                    "cannot restore the replay table from " + path.string() + ": it is cut short");
  CHECK_THROWS_AS(restore_table(folder / "none", small()), UserError);
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(restore_table(pipe, small()), Catch::EndsWith("it is no file"));
}

TEST_CASE("records that contradict each other are refused") {
  Table table = filled(small(), 2);
  BlockList blocks;
  table.begin_snapshot({}, blocks);
  run_to_end(table);
  REQUIRE(blocks.blocks.size() == 3);
  Bytes& records = blocks.blocks[1].bytes;
  const std::size_t record = records.size() / 2;
  const auto refused = [&] {
    auto in = blocks.stream();
    const auto restored = read_snapshot(in, small());
    REQUIRE_FALSE(restored.has_value());
    CHECK(restored.error().code == Errc::kCorruptFrame);
    return restored.error().detail;
  };
  SECTION("an item too few") {
    records.resize(record);
    CHECK(refused() == "items are missing");
  }
  SECTION("an item twice") {
    std::copy_n(records.begin(), record, records.begin() + static_cast<std::ptrdiff_t>(record));
    CHECK(refused() == "two items share a slot");
  }
  SECTION("a slot beyond the table") {
    records[3] = std::byte{0xff};
    CHECK(refused() == "two items share a slot");
  }
  SECTION("a negative priority") {
    records[23] |= std::byte{0x80};
    CHECK(refused() == "an item has no valid priority");
  }
  SECTION("a number that was not given out yet") {
    records[8] = std::byte{2};
    CHECK(refused() == "an item is from the future");
  }
  SECTION("the same number twice") {
    records[8] = records[8 + record];
    CHECK(refused() == "two items share a number");
  }
  SECTION("no end") {
    blocks.blocks.pop_back();
    CHECK(refused() == "it is cut short");
  }
  SECTION("something after the end") {
    blocks.blocks.push_back({BlockKind::kEnd, {}});
    CHECK(refused() == "it goes on after its end");
  }
  SECTION("two headers") {
    blocks.blocks[1] = blocks.blocks[0];
    CHECK(refused() == "it has two headers");
  }
  SECTION("a block of no kind") {
    blocks.blocks[1].kind = BlockKind{};
    CHECK(refused() == "it has a block of no known kind");
  }
}
