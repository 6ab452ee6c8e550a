#include "replay/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/config/diff.h"
#include "common/config/dump.h"
#include "common/text.h"
#include "common/try_again.h"

namespace pacml::replay {
namespace {

constexpr std::uint64_t kMostInsertions = std::uint64_t{1} << 62;  // far from wrapping round

tl::unexpected<Error> corrupt(const char* what) { return fail(Errc::kCorruptFrame, what); }

bool is_state(const Rng::State& state) {  // all zeroes would give zeroes for ever
  return std::any_of(state.words.begin(), state.words.end(), [](auto word) { return word != 0; });
}

}  // namespace

// Fills an empty table from a header, then from records. Every field is checked before it is used.
class SnapshotReader {
 public:
  explicit SnapshotReader(const TableConfig& config) : table_(config, Seed{}) {}

  Result<void> apply(const SnapshotHeader& header) {
    if (!is_state(header.sampler_rng) || !is_state(header.remover_rng)) {
      return corrupt("it has no state of the random numbers");
    }
    if (header.unused > table_.slots_.size() || header.items > header.unused ||
        header.free.size() != header.unused - header.items) {
      return corrupt("its slots do not add up");
    }
    if (header.next_insertion > kMostInsertions) return corrupt("it counts too many inserts");
    SlotSet seen(table_.slots_.size());
    for (const ItemKey& key : header.free) {
      if (key.slot >= header.unused || seen.contains(key.slot)) {
        return corrupt("its free slots do not add up");
      }
      seen.add(key.slot);
      table_.slots_[key.slot].generation = key.generation;
      table_.free_.push_back(key.slot);
    }
    free_ = std::move(seen);
    table_.sampler_rng_.restore(header.sampler_rng);
    table_.remover_rng_.restore(header.remover_rng);
    table_.limiter_.restore(header.limiter);
    table_.counters_ = header.counters;
    table_.next_insertion_ = header.next_insertion;
    table_.unused_ = header.unused;
    items_ = header.items;
    return {};
  }

  Result<void> apply(const SnapshotRecord& record) {
    const std::uint32_t slot = record.key.slot;
    if (slot >= table_.unused_ || table_.items_.contains(slot) || free_.contains(slot)) {
      return corrupt("two items share a slot");
    }
    if (!is_priority(record.priority)) return corrupt("an item has no valid priority");
    if (record.insertion >= table_.next_insertion_) return corrupt("an item is from the future");
    if (PayloadStore::footprint(record.payload.size()) >
        table_.byte_bound() - table_.payloads_.bytes()) {
      return corrupt("its items are longer than the table's bound");
    }
    table_.slots_[slot] = {record.priority, record.key.generation, record.times_sampled,
                           record.insertion};
    table_.items_.add(slot);
    table_.payloads_.put(slot, record.payload);
    order_.emplace_back(record.insertion, slot);
    return {};
  }

  // The table, once all records were applied.
  Result<Table> finish() {
    if (order_.size() != items_) return corrupt("items are missing");
    std::sort(order_.begin(), order_.end());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto [insertion, slot] = order_[i];
      if (i > 0 && order_[i - 1].first == insertion) return corrupt("two items share a number");
      table_.sampler_->insert(slot, table_.slots_[slot].priority);
      table_.remover_->insert(slot, table_.slots_[slot].priority);
    }
    return std::move(table_);
  }

 private:
  Table table_;
  SlotSet free_{0};
  std::uint64_t items_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // insertion number, slot
};

Result<RestoredTable> read_snapshot(std::istream& in, const TableConfig& config) {
  if (auto magic = read_magic(in); !magic) return tl::unexpected(magic.error());
  auto block = read_block(in);
  if (!block) return tl::unexpected(block.error());
  if (block->kind != BlockKind::kHeader) return corrupt("it does not begin with its header");
  auto header = decode_header(block->bytes);
  if (!header) return tl::unexpected(header.error());
  if (const std::string ours = dump_config(config); header->config != ours) {
    return fail(Errc::kVersionMismatch, "it is of a table with other settings: " +
                                            join(config_differences(ours, header->config), "; "));
  }
  SnapshotReader reader(config);
  if (auto applied = reader.apply(*header); !applied) return tl::unexpected(applied.error());
  while (true) {
    block = read_block(in);
    if (!block) return tl::unexpected(block.error());
    if (block->kind == BlockKind::kEnd) break;
    if (block->kind != BlockKind::kRecords) return corrupt("it has two headers");
    for (std::span<const std::byte> rest = block->bytes; !rest.empty();) {
      const auto record = take_record(rest);
      if (!record) return tl::unexpected(record.error());
      if (auto applied = reader.apply(*record); !applied) return tl::unexpected(applied.error());
    }
  }
  if (!block->bytes.empty() || in.peek() != std::istream::traits_type::eof()) {
    return corrupt("it goes on after its end");
  }
  auto table = reader.finish();
  if (!table) return tl::unexpected(table.error());
  return RestoredTable{std::move(*table), std::move(header->extra)};
}

RestoredTable restore_table(const std::filesystem::path& path, const TableConfig& config) {
  std::error_code absent;
  if (std::filesystem::exists(path, absent) && !std::filesystem::is_regular_file(path, absent)) {
    throw UserError("cannot restore the replay table from " + path.string() + ": it is no file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_system_error("cannot read " + path.string(), errno);
  auto restored = read_snapshot(in, config);
  if (!restored && in.bad()) {
    throw TryAgainError("cannot read " + path.string() + ": the disk does not give it");
  }
  if (!restored) {
    throw UserError("cannot restore the replay table from " + path.string() + ": " +
                    restored.error().detail);
  }
  return std::move(*restored);
}

}  // namespace pacml::replay
