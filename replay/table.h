#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/result.h"
#include "common/rng.h"
#include "replay/item.h"
#include "replay/payload_store.h"
#include "replay/rate_limiter.h"
#include "replay/selector.h"
#include "replay/slot_set.h"
#include "replay/snapshot_format.h"
#include "replay/snapshot_run.h"
#include "replay/table_config.h"

namespace pacml::replay {

// What became of a batch of priority updates.
struct UpdateCounts {
  std::uint64_t applied = 0;
  std::uint64_t evicted = 0;  // dropped: the item is no longer there
  std::uint64_t refused = 0;  // dropped: NaN, infinite, negative or above kMaxPriority
  bool operator==(const UpdateCounts&) const = default;
};

// A table's figures at one moment.
struct TableStatus {
  std::size_t size = 0;       // items
  std::size_t capacity = 0;   // items
  std::size_t bytes = 0;      // of payloads
  std::size_t max_bytes = 0;  // 0: no bound
  double total_priority = 0;
  TableCounters counters;
  RateLimit limit = RateLimit::kOpen;
  std::string why;  // who waits for whom; a clause for people
};

// Items with priorities, in a fixed number of slots: a sampler says which item is drawn, a remover
// which one goes when room is needed, a rate limiter who has to wait. Draws are Rng streams
// (seed, kReplay, 0), the remover's are (seed, kReplay, 1).
//
// Memory: payloads, within max_bytes, and about 60 bytes a slot, allocated at the start.
//
// Thread-confined: one thread, its server's, owns it.
class Table {
 public:
  // Pre: validate(config) finds nothing.
  Table(const TableConfig& config, Seed seed);

  // Stores a copy of the payload, which replaces other items where there is no room. Never waits:
  // ask can_insert() before a batch. kCorruptFrame: not a priority (counted). kOverLimit: longer
  // than the byte bound. The table is unchanged after either.
  [[nodiscard]] Result<ItemKey> insert(std::span<const std::byte> payload, double priority);

  // Independent draws, with replacement, until `into` is full. Never waits: ask can_sample() before
  // a batch. Returns how many were drawn: fewer than asked for only where the items run out, as
  // they do when max_times_sampled takes them away.
  [[nodiscard]] std::size_t sample(std::span<SampledItem> into);

  // In order. Keys and priorities are a peer's: any value is safe.
  UpdateCounts update_priorities(std::span<const PriorityUpdate> updates);

  [[nodiscard]] bool can_insert() const { return limiter_.can_insert(size()); }
  [[nodiscard]] std::uint64_t insert_room() const { return limiter_.insert_room(size()); }
  [[nodiscard]] bool can_sample() const { return limiter_.can_sample(size()); }

  [[nodiscard]] std::size_t size() const { return sampler_->size(); }
  // Memory that the items' payloads take, and that of former ones which waits to be used again.
  // Where there is a bound, the two together stay within it.
  [[nodiscard]] std::size_t bytes() const { return payloads_.bytes(); }
  [[nodiscard]] std::size_t spare_bytes() const { return payloads_.spare_bytes(); }
  // Sum of the sampler's weights: what a table's share in a mixture of tables is proportional to.
  [[nodiscard]] double total_priority() const { return sampler_->total(); }
  [[nodiscard]] const TableCounters& counters() const { return counters_; }
  [[nodiscard]] TableStatus status() const;

  // Snapshots (replay/snapshot.h): the state at begin_snapshot, whatever happens afterwards. Items
  // are copied a few at a time, and before they change, so nobody waits for a snapshot.

  // `extra`: the owner's bytes, kept with the table's. `sink` takes the blocks and must outlive the
  // snapshot. Pre: no snapshot is running.
  void begin_snapshot(std::span<const std::byte> extra, BlockSink& sink);
  // Copies at most so many items, and none while the sink is behind, so that one block at most
  // waits for it. True once the sink has taken everything: the snapshot is over. Pre: a snapshot is
  // running.
  [[nodiscard]] bool advance_snapshot(std::size_t max_items);
  [[nodiscard]] bool snapshot_running() const { return snapshot_ != nullptr; }

 private:
  friend class SnapshotReader;  // builds a table from its records

  struct Slot {
    double priority = 0;  // as given, not yet raised to alpha
    std::uint32_t generation = 0;
    std::uint32_t times_sampled = 0;
    std::uint64_t insertion = 0;
  };

  [[nodiscard]] std::size_t byte_bound() const;
  void make_room(std::size_t payload_bytes);
  [[nodiscard]] std::uint32_t take_slot();
  void remove(std::uint32_t slot);
  [[nodiscard]] SampledItem draw(const Selection& selection);
  void preserve(std::uint32_t slot);  // before it changes

  TableConfig config_;
  RateLimiter limiter_;
  std::unique_ptr<ItemSelector> sampler_;
  std::unique_ptr<ItemSelector> remover_;
  Rng sampler_rng_;
  Rng remover_rng_;
  PayloadStore payloads_;
  std::vector<Slot> slots_;
  SlotSet items_;
  std::uint32_t unused_ = 0;         // slots from here on never held an item
  std::vector<std::uint32_t> free_;  // slots that did; the last one is taken next
  std::uint64_t next_insertion_ = 0;
  TableCounters counters_;
  std::unique_ptr<SnapshotRun> snapshot_;
  std::vector<Selection> selections_;   // scratch
  std::vector<SlotPriority> accepted_;  // scratch
};

}  // namespace pacml::replay
