#pragma once

#include <cstdint>

#include "common/bytes.h"

namespace pacml::replay {

// A snapshot is one header, blocks of records, one end (replay/snapshot_format.h).
enum class BlockKind : std::uint32_t { kHeader = 1, kRecords = 2, kEnd = 3 };

struct Block {
  BlockKind kind = BlockKind::kHeader;
  Bytes bytes;
};

// Where the blocks of a snapshot go: a file's writer, or a test's list.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  // Takes the block and returns true; or, when it is behind, leaves it untouched. Never waits.
  [[nodiscard]] virtual bool try_take(Block& block) = 0;
};

}  // namespace pacml::replay
