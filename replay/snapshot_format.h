#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "common/rng.h"
#include "replay/block_sink.h"
#include "replay/item.h"
#include "replay/rate_limiter.h"
#include "replay/table_counters.h"

// A snapshot as bytes. A file is the eight characters "PACMLRT" and the format's number, then
// blocks, each
//     kind u32, length u32, content_hash of the bytes (seeded with the kind) u64, bytes
// in the order header, records (any number, items in any order), end. Numbers are little-endian.
// Reading believes nothing: whatever the bytes, it takes memory in proportion to them and answers
// with kCorruptFrame, or kVersionMismatch for another format. Pure but for the stream.

namespace pacml::replay {

// Everything of a table but its items, and the owner's bytes.
struct SnapshotHeader {
  std::string config;  // dump_config of the TableConfig
  Rng::State sampler_rng;
  Rng::State remover_rng;
  RateLimiter::Counts limiter;
  TableCounters counters;
  std::uint64_t next_insertion = 0;
  std::uint32_t unused = 0;   // slots from here on never held an item
  std::vector<ItemKey> free;  // the others without an item, with their last tenants' generations
  std::uint64_t items = 0;
  Bytes extra;
};

struct SnapshotRecord {
  ItemKey key;
  std::uint32_t times_sampled = 0;
  std::uint64_t insertion = 0;  // its number in the order of inserts
  double priority = 0;
  std::span<const std::byte> payload;  // borrowed
};

[[nodiscard]] Bytes encode_header(const SnapshotHeader& header);
[[nodiscard]] Result<SnapshotHeader> decode_header(std::span<const std::byte> bytes);

void append_record(Bytes& bytes, const SnapshotRecord& record);
// The first record of `bytes`, which then begin after it. Its payload is borrowed from them.
[[nodiscard]] Result<SnapshotRecord> take_record(std::span<const std::byte>& bytes);

// What a file begins with.
[[nodiscard]] Bytes encode_magic();
[[nodiscard]] Result<void> read_magic(std::istream& in);

// What stands before a block's bytes. Pre: they are less than 4 GiB.
[[nodiscard]] Bytes encode_frame(const Block& block);
// The next block, its hash checked. kCorruptFrame: damaged, or the stream ends before.
[[nodiscard]] Result<Block> read_block(std::istream& in);

}  // namespace pacml::replay
