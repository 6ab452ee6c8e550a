#include "replay/snapshot_writer.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "common/atomic_file.h"
#include "common/attempt.h"
#include "common/check.h"
#include "common/thread_group.h"
#include "replay/snapshot_format.h"

namespace pacml::replay {
namespace {

std::string_view text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

SnapshotWriter::SnapshotWriter(std::filesystem::path path, std::size_t queue_blocks)
    : path_(std::move(path)), queue_(queue_blocks) {
  thread_ = std::thread([this] {
    name_this_thread("replay-snapshot");
    outcome_ = attempt([this] { return write_file(); });
    // What still comes after an error of the disk is taken and forgotten.
    while (queue_.pop()) {
    }
    done_.store(true, std::memory_order_release);
  });
}

SnapshotWriter::~SnapshotWriter() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

bool SnapshotWriter::try_take(Block& block) {
  return queue_.try_push(std::move(block)).has_value();
}

void SnapshotWriter::finish() {
  complete_.store(true);
  queue_.close();
}

Result<std::uint64_t> SnapshotWriter::wait() {
  PACML_CHECK(complete_, "a snapshot is waited for once it is complete");
  if (thread_.joinable()) thread_.join();
  return outcome_;
}

Result<std::uint64_t> SnapshotWriter::write_file() {
  auto file = AtomicFile::create(path_);
  if (!file) return tl::unexpected(file.error());
  std::uint64_t size = 0;
  const auto append = [&](const Bytes& bytes) {
    size += bytes.size();
    return file->append(text_of(bytes));
  };
  auto written = append(encode_magic());
  while (written) {
    const auto block = queue_.pop();
    if (!block) break;
    // A table with half a thousand million free slots; it keeps the snapshot that it has.
    if (block->bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
      return fail(Errc::kOverLimit, "a block of it would be larger than 4 GiB");
    }
    written = append(encode_frame(*block));
    if (written) written = append(block->bytes);
  }
  if (written && !complete_) return fail(Errc::kStopped, "the snapshot was given up");
  if (written) written = file->commit();
  if (!written) return tl::unexpected(written.error());
  return size;
}

}  // namespace pacml::replay
