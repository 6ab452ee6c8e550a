#include "replay/snapshot_run.h"

#include <utility>

namespace pacml::replay {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;  // a block ends once it is as long

}  // namespace

SnapshotRun::SnapshotRun(const SnapshotHeader& header, SlotSet items, BlockSink& sink)
    : items_(std::move(items)), sink_(sink) {
  full_.push_back({BlockKind::kHeader, encode_header(header)});
}

std::uint32_t SnapshotRun::next_pending() {
  if (cursor_ != SlotSet::kNone) cursor_ = items_.next(cursor_);
  return cursor_;
}

void SnapshotRun::copy(const SnapshotRecord& record) {
  items_.erase(record.key.slot);
  if (open_.empty()) open_.reserve(kBlockBytes + 4096);
  append_record(open_, record);
  if (open_.size() >= kBlockBytes) close_block();
}

void SnapshotRun::finish() {
  if (finished_) return;
  if (!open_.empty()) close_block();
  full_.push_back({BlockKind::kEnd, {}});
  finished_ = true;
}

void SnapshotRun::close_block() {
  full_.push_back({BlockKind::kRecords, std::move(open_)});
  open_ = {};
}

bool SnapshotRun::flush() {
  while (!full_.empty() && sink_.try_take(full_.front())) full_.pop_front();
  return full_.empty();
}

}  // namespace pacml::replay
