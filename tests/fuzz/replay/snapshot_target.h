#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "replay/block_sink.h"
#include "replay/table_config.h"

namespace pacml::fuzz {

// Of the tables whose snapshots the target reads.
[[nodiscard]] replay::TableConfig snapshot_config();

// Blocks as the target's bytes: kind u8, length u16, bytes, for each; the hashes are left to the
// target, so that damage gets past them. Pre: no block is longer than 65535 bytes.
[[nodiscard]] Bytes flatten(const std::vector<replay::Block>& blocks);

// Reads a snapshot, once from the bytes as they are and once from the blocks that they flatten.
// What is read must be a table that works, and that survives a snapshot of its own. True when the
// blocks were read.
bool snapshot(std::span<const std::byte> bytes);

}  // namespace pacml::fuzz
