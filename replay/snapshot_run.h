#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "replay/block_sink.h"
#include "replay/slot_set.h"
#include "replay/snapshot_format.h"

namespace pacml::replay {

// A snapshot under way: which items are still to be copied, and the blocks that the sink has not
// taken yet. Those are one, unless items change while the sink stands still: then they are at most
// a copy of what changes. Thread-confined.
class SnapshotRun {
 public:
  // `items`: the slots to copy.
  SnapshotRun(const SnapshotHeader& header, SlotSet items, BlockSink& sink);

  [[nodiscard]] bool pending(std::uint32_t slot) const { return items_.contains(slot); }
  // The next slot to copy, in the order of slots, or SlotSet::kNone.
  [[nodiscard]] std::uint32_t next_pending();
  // Pre: pending(record.key.slot).
  void copy(const SnapshotRecord& record);
  // Ends the last block. Pre: nothing is pending. Once is enough.
  void finish();
  [[nodiscard]] bool finished() const { return finished_; }
  // Offers the full blocks to the sink. True when it took them all.
  bool flush();

 private:
  void close_block();

  SlotSet items_;
  BlockSink& sink_;
  std::uint32_t cursor_ = 0;  // nothing is pending below
  Bytes open_;                // the block that records are added to
  std::deque<Block> full_;
  bool finished_ = false;
};

}  // namespace pacml::replay
