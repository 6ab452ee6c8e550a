#include "replay/table.h"

#include <algorithm>
#include <string>

#include "common/check.h"
#include "common/config/dump.h"
#include "replay/fifo.h"
#include "replay/prioritized.h"
#include "replay/uniform.h"

namespace pacml::replay {
namespace {

// One payload more than this is not worth a place in memory, nor a snapshot's 32-bit lengths.
constexpr std::size_t kMaxPayload = std::size_t{1} << 30;

std::unique_ptr<ItemSelector> make_sampler(const TableConfig& config) {
  const auto capacity = static_cast<std::size_t>(config.capacity);
  switch (config.sampler) {
    case Sampler::kFifo:
      return std::make_unique<FifoSelector>(capacity);
    case Sampler::kUniform:
      return std::make_unique<UniformSelector>(capacity);
    case Sampler::kPrioritized:
      break;
  }
  return std::make_unique<PrioritizedSelector>(capacity, config.priority_exponent);
}

std::unique_ptr<ItemSelector> make_remover(const TableConfig& config) {
  const auto capacity = static_cast<std::size_t>(config.capacity);
  if (config.remover == Remover::kUniform) return std::make_unique<UniformSelector>(capacity);
  return std::make_unique<FifoSelector>(capacity);
}

}  // namespace

Table::Table(const TableConfig& config, Seed seed)
    : config_(config),
      limiter_(rate_limiter_of(config)),
      sampler_(make_sampler(config)),
      remover_(make_remover(config)),
      sampler_rng_(derive(seed, Purpose::kReplay, 0)),
      remover_rng_(derive(seed, Purpose::kReplay, 1)),
      payloads_(static_cast<std::size_t>(config.capacity), byte_bound()),
      slots_(static_cast<std::size_t>(config.capacity)),
      items_(static_cast<std::size_t>(config.capacity)) {
  PACML_CHECK(validate(config).empty(), "the settings are validated where they are read");
}

std::size_t Table::byte_bound() const {
  return config_.max_bytes == 0 ? SIZE_MAX : static_cast<std::size_t>(config_.max_bytes);
}

Result<ItemKey> Table::insert(std::span<const std::byte> payload, double priority) {
  if (!is_priority(priority)) {
    ++counters_.refused;
    return fail(Errc::kCorruptFrame,
                "an item's priority must be from 0 to 1e290, not " + std::to_string(priority));
  }
  const std::size_t memory = PayloadStore::footprint(payload.size());
  if (memory > byte_bound() || memory > kMaxPayload) {
    ++counters_.refused;
    return fail(Errc::kOverLimit,
                "an item of " + std::to_string(payload.size()) + " bytes is too large");
  }
  make_room(memory);
  const std::uint32_t slot = take_slot();
  payloads_.put(slot, payload);
  Slot& item = slots_[slot];
  item = {priority, item.generation + 1, 0, next_insertion_++};
  items_.add(slot);
  sampler_->insert(slot, priority);
  remover_->insert(slot, priority);
  ++counters_.inserted;
  limiter_.inserted(1);
  return ItemKey{slot, item.generation};
}

// Only what the items take decides who is evicted, so that it does not matter how much spare memory
// a table happens to hold: a restored one holds none.
void Table::make_room(std::size_t payload_bytes) {
  while (size() == slots_.size() || payloads_.bytes() + payload_bytes > byte_bound()) {
    Selection victim;
    remover_->select(remover_rng_, {&victim, 1});
    remove(victim.slot);
    ++counters_.evicted;
  }
}

std::uint32_t Table::take_slot() {
  if (free_.empty()) return unused_++;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void Table::remove(std::uint32_t slot) {
  preserve(slot);
  sampler_->remove(slot);
  remover_->remove(slot);
  items_.erase(slot);
  payloads_.drop(slot);
  free_.push_back(slot);
}

std::size_t Table::sample(std::span<SampledItem> into) {
  std::size_t drawn = 0;
  if (config_.max_times_sampled == 0) {
    if (size() == 0) return 0;
    drawn = into.size();
    selections_.resize(drawn);
    sampler_->select(sampler_rng_, selections_);
    for (const auto& selection : selections_) {
      __builtin_prefetch(&slots_[selection.slot], 1);
      payloads_.prefetch(selection.slot);
    }
    for (std::size_t i = 0; i < drawn; ++i) into[i] = draw(selections_[i]);
  } else {
    // One by one, since a draw may take its item away from the next one.
    for (; drawn < into.size() && size() > 0; ++drawn) {
      Selection selection;
      sampler_->select(sampler_rng_, {&selection, 1});
      into[drawn] = draw(selection);
      if (slots_[selection.slot].times_sampled >= config_.max_times_sampled) {
        remove(selection.slot);  // the bytes that were lent stay until the next insert
        ++counters_.used_up;
      }
    }
  }
  counters_.sampled += drawn;
  limiter_.sampled(drawn);
  return drawn;
}

SampledItem Table::draw(const Selection& selection) {
  preserve(selection.slot);
  Slot& item = slots_[selection.slot];
  ++item.times_sampled;
  return {{selection.slot, item.generation}, selection.probability, payloads_.get(selection.slot)};
}

UpdateCounts Table::update_priorities(std::span<const PriorityUpdate> updates) {
  UpdateCounts counts;
  for (const auto& update : updates) {
    if (update.key.slot < slots_.size()) __builtin_prefetch(&slots_[update.key.slot], 1);
  }
  accepted_.clear();
  for (const auto& [key, priority] : updates) {
    if (!is_priority(priority)) {
      ++counts.refused;
    } else if (key.slot >= slots_.size() || !items_.contains(key.slot) ||
               slots_[key.slot].generation != key.generation) {
      ++counts.evicted;
    } else {
      preserve(key.slot);
      slots_[key.slot].priority = priority;
      accepted_.push_back({key.slot, priority});
    }
  }
  sampler_->update(accepted_);  // removers do not look at priorities
  counts.applied = accepted_.size();
  counters_.updates_applied += counts.applied;
  counters_.updates_evicted += counts.evicted;
  counters_.updates_refused += counts.refused;
  return counts;
}

TableStatus Table::status() const {
  TableStatus status;
  status.size = size();
  status.capacity = slots_.size();
  status.bytes = bytes();
  status.max_bytes = static_cast<std::size_t>(config_.max_bytes);
  status.total_priority = total_priority();
  status.counters = counters_;
  status.limit = limiter_.limit(size());
  status.why = limiter_.describe(size());
  const std::size_t mean = bytes() / std::max<std::size_t>(size(), 1);
  if (status.limit == RateLimit::kSamplesForItems && bytes() > byte_bound() - mean) {
    status.why += ", and max_bytes has no room for more";
  }
  return status;
}

void Table::begin_snapshot(std::span<const std::byte> extra, BlockSink& sink) {
  PACML_CHECK(!snapshot_running(), "one snapshot at a time");
  SnapshotHeader header;
  header.config = dump_config(config_);
  header.sampler_rng = sampler_rng_.state();
  header.remover_rng = remover_rng_.state();
  header.limiter = limiter_.counts();
  header.counters = counters_;
  header.next_insertion = next_insertion_;
  header.unused = unused_;
  for (const std::uint32_t slot : free_) header.free.push_back({slot, slots_[slot].generation});
  header.items = size();
  header.extra.assign(extra.begin(), extra.end());
  snapshot_ = std::make_unique<SnapshotRun>(header, items_, sink);
}

bool Table::advance_snapshot(std::size_t max_items) {
  PACML_CHECK(snapshot_running(), "there is a snapshot to advance");
  // No block is begun before the sink has taken the one before.
  for (; snapshot_->flush() && max_items > 0; --max_items) {
    const std::uint32_t slot = snapshot_->next_pending();
    if (slot == SlotSet::kNone) {
      snapshot_->finish();
      break;
    }
    preserve(slot);
  }
  if (!snapshot_->flush() || !snapshot_->finished()) return false;
  snapshot_.reset();
  return true;
}

void Table::preserve(std::uint32_t slot) {
  if (snapshot_ == nullptr || !snapshot_->pending(slot)) return;
  const Slot& item = slots_[slot];
  snapshot_->copy({{slot, item.generation},
                   item.times_sampled,
                   item.insertion,
                   item.priority,
                   payloads_.get(slot)});
}

}  // namespace pacml::replay
