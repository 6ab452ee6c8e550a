#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <thread>

#include "common/bounded_queue.h"
#include "common/result.h"
#include "replay/block_sink.h"

namespace pacml::replay {

// Writes the blocks of one snapshot to a file, on a thread of its own. The file appears whole and
// synced, in the place of an older one, or not at all (common/atomic_file.h). Owned by one thread,
// which may call everything; only wait() and the destructor wait.
class SnapshotWriter final : public BlockSink {
 public:
  // `queue_blocks`: blocks of about a megabyte that may be waiting for the disk.
  explicit SnapshotWriter(std::filesystem::path path, std::size_t queue_blocks = 16);
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;
  // Without finish() before: the snapshot is given up, an older file stays.
  ~SnapshotWriter() override;

  // After an error of the disk, blocks are taken and dropped.
  [[nodiscard]] bool try_take(Block& block) override;
  // All blocks are there: Table::advance_snapshot has returned true.
  void finish();
  // finish() was called, and the file is there or has failed.
  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  // Waits for that. The file's size in bytes, or kIo with the path and the reason. Pre: finish()
  // was called.
  [[nodiscard]] Result<std::uint64_t> wait();

 private:
  [[nodiscard]] Result<std::uint64_t> write_file();

  const std::filesystem::path path_;
  BoundedQueue<Block> queue_;
  std::atomic<bool> complete_ = false;  // finish() was called
  std::atomic<bool> done_ = false;
  Result<std::uint64_t> outcome_ = 0;  // the thread's until done_
  std::thread thread_;
};

}  // namespace pacml::replay
