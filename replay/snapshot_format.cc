#include "replay/snapshot_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "common/hash.h"
#include "common/raw_bytes.h"

namespace pacml::replay {
namespace {

constexpr std::array<char, 7> kMagic = {'P', 'A', 'C', 'M', 'L', 'R', 'T'};
constexpr char kFormat = 3;
constexpr std::size_t kChunk = std::size_t{1} << 20;  // read at once; a wrong length costs no more

std::uint64_t hash_of(const Block& block) {
  return content_hash(block.bytes, static_cast<std::uint64_t>(block.kind));
}

bool read_exactly(std::istream& in, std::span<std::byte> into) {
  in.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
  return static_cast<std::size_t>(in.gcount()) == into.size();
}

}  // namespace

Bytes encode_header(const SnapshotHeader& header) {
  Bytes bytes;
  append_sized<std::uint64_t>(bytes, std::as_bytes(std::span(header.config)));
  append_value(bytes, header.sampler_rng.words);
  append_value(bytes, header.remover_rng.words);
  append_value(bytes, header.limiter);
  append_value(bytes, header.counters);
  append_value(bytes, header.next_insertion);
  append_value(bytes, header.items);
  append_value(bytes, header.unused);
  append_sized<std::uint64_t>(bytes, bytes_of(header.free));
  append_sized<std::uint64_t>(bytes, header.extra);
  return bytes;
}

Result<SnapshotHeader> decode_header(std::span<const std::byte> bytes) {
  RawReader reader(bytes);
  SnapshotHeader header;
  const auto config = reader.take_sized<std::uint64_t>();
  header.config.assign(reinterpret_cast<const char*>(config.data()), config.size());
  header.sampler_rng.words = reader.take<std::array<std::uint64_t, 4>>();
  header.remover_rng.words = reader.take<std::array<std::uint64_t, 4>>();
  header.limiter = reader.take<RateLimiter::Counts>();
  header.counters = reader.take<TableCounters>();
  header.next_insertion = reader.take<std::uint64_t>();
  header.items = reader.take<std::uint64_t>();
  header.unused = reader.take<std::uint32_t>();
  const auto free = reader.take_sized<std::uint64_t>();
  const auto extra = reader.take_sized<std::uint64_t>();
  if (!reader.ok() || !reader.rest().empty() || free.size() % sizeof(ItemKey) != 0) {
    return fail(Errc::kCorruptFrame, "its header has the wrong length");
  }
  header.free.resize(free.size() / sizeof(ItemKey));
  if (!free.empty()) std::memcpy(header.free.data(), free.data(), free.size());
  header.extra.assign(extra.begin(), extra.end());
  return header;
}

void append_record(Bytes& bytes, const SnapshotRecord& record) {
  append_value(bytes, record.key.pack());
  append_value(bytes, record.insertion);
  append_value(bytes, record.priority);
  append_value(bytes, record.times_sampled);
  append_value(bytes, static_cast<std::uint32_t>(record.payload.size()));
  append_bytes(bytes, record.payload);
}

Result<SnapshotRecord> take_record(std::span<const std::byte>& bytes) {
  RawReader reader(bytes);
  SnapshotRecord record;
  record.key = ItemKey::unpack(reader.take<std::uint64_t>());
  record.insertion = reader.take<std::uint64_t>();
  record.priority = reader.take<double>();
  record.times_sampled = reader.take<std::uint32_t>();
  record.payload = reader.take_bytes(reader.take<std::uint32_t>());
  if (!reader.ok()) return fail(Errc::kCorruptFrame, "a record is cut short");
  bytes = reader.rest();
  return record;
}

Bytes encode_magic() {
  Bytes bytes;
  append_value(bytes, kMagic);
  append_value(bytes, kFormat);
  return bytes;
}

Result<void> read_magic(std::istream& in) {
  std::array<char, kMagic.size() + 1> found{};
  if (!read_exactly(in, std::as_writable_bytes(std::span(found))) ||
      !std::equal(kMagic.begin(), kMagic.end(), found.begin())) {
    return fail(Errc::kCorruptFrame, "it is not a snapshot of a replay table");
  }
  if (found.back() != kFormat) {
    return fail(Errc::kVersionMismatch, "it has format " + std::to_string(int{found.back()}) +
                                            ", this program reads " + std::to_string(int{kFormat}));
  }
  return {};
}

Bytes encode_frame(const Block& block) {
  Bytes bytes;
  append_value(bytes, static_cast<std::uint32_t>(block.kind));
  append_value(bytes, static_cast<std::uint32_t>(block.bytes.size()));
  append_value(bytes, hash_of(block));
  return bytes;
}

Result<Block> read_block(std::istream& in) {
  std::array<std::byte, 16> frame{};
  if (!read_exactly(in, frame)) return fail(Errc::kCorruptFrame, "it is cut short");
  RawReader reader(frame);
  const auto kind = reader.take<std::uint32_t>();
  if (kind < static_cast<std::uint32_t>(BlockKind::kHeader) ||
      kind > static_cast<std::uint32_t>(BlockKind::kEnd)) {
    return fail(Errc::kCorruptFrame, "it has a block of no known kind");
  }
  Block block;
  block.kind = static_cast<BlockKind>(kind);
  std::size_t left = reader.take<std::uint32_t>();
  const auto hash = reader.take<std::uint64_t>();
  while (left > 0) {
    const std::size_t at = block.bytes.size();
    const std::size_t piece = std::min(left, kChunk);
    block.bytes.resize(at + piece);
    if (!read_exactly(in, std::span(block.bytes).subspan(at))) {
      return fail(Errc::kCorruptFrame, "it is cut short");
    }
    left -= piece;
  }
  if (hash_of(block) != hash) return fail(Errc::kCorruptFrame, "it is damaged");
  return block;
}

}  // namespace pacml::replay
