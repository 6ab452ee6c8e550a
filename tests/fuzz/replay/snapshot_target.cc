#include "tests/fuzz/replay/snapshot_target.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>

#include "common/check.h"
#include "replay/snapshot.h"
#include "tests/support/block_list.h"

namespace pacml::fuzz {
namespace {

using replay::Block;
using replay::BlockKind;
using testing::BlockList;

std::vector<Block> unflatten(std::span<const std::byte> bytes) {
  std::vector<Block> blocks;
  while (bytes.size() >= 3) {
    const auto kind = std::to_integer<std::uint32_t>(bytes[0]);
    const auto length =
        std::to_integer<std::size_t>(bytes[1]) + 256 * std::to_integer<std::size_t>(bytes[2]);
    bytes = bytes.subspan(3);
    const auto content = bytes.first(std::min(length, bytes.size()));
    blocks.push_back({static_cast<BlockKind>(kind), Bytes(content.begin(), content.end())});
    bytes = bytes.subspan(content.size());
  }
  return blocks;
}

void use(replay::Table& table) {
  std::array<replay::SampledItem, 8> drawn;
  std::vector<replay::PriorityUpdate> updates;
  for (int round = 0; round < 3; ++round) {
    const std::size_t n = table.sample(drawn);
    PACML_CHECK(n > 0 || table.size() == 0, "a table with items can be drawn from");
    for (const auto& item : std::span(drawn).first(n)) updates.push_back({item.key, 1.0});
    table.update_priorities(updates);
    for (int i = 0; i < 10; ++i) {
      PACML_CHECK(table.insert(Bytes(16), 1.0).has_value(), "a table takes items");
    }
  }
}

}  // namespace

replay::TableConfig snapshot_config() {
  replay::TableConfig config;
  config.capacity = 20;
  config.max_bytes = 400;
  config.max_times_sampled = 3;
  config.min_size = 1;
  return config;
}

Bytes flatten(const std::vector<Block>& blocks) {
  Bytes bytes;
  for (const auto& block : blocks) {
    bytes.push_back(static_cast<std::byte>(block.kind));
    bytes.push_back(static_cast<std::byte>(block.bytes.size() % 256));
    bytes.push_back(static_cast<std::byte>(block.bytes.size() / 256));
    for (const auto byte : block.bytes) bytes.push_back(byte);
  }
  return bytes;
}

bool snapshot(std::span<const std::byte> bytes) {
  const replay::TableConfig config = snapshot_config();
  std::istringstream raw(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  static_cast<void>(read_snapshot(raw, config));

  auto stream = BlockList::stream_of(unflatten(bytes));
  auto restored = read_snapshot(stream, config);
  if (!restored) return false;
  use(restored->table);
  BlockList blocks;
  restored->table.begin_snapshot(restored->extra, blocks);
  while (!restored->table.advance_snapshot(4)) {
  }
  auto again = blocks.stream();
  const auto twin = read_snapshot(again, config);
  // A table that was restored just below the greatest count of inserts has gone over it in use().
  if (!twin && twin.error().detail == "it counts too many inserts") return true;
  PACML_CHECK(twin.has_value(), "a table's own snapshot can be read");
  PACML_CHECK(twin->table.total_priority() == restored->table.total_priority() &&
                  twin->table.bytes() == restored->table.bytes(),
              "a table survives its snapshot");
  return true;
}

}  // namespace pacml::fuzz
