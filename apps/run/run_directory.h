#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/options.h"
#include "common/clock.h"
#include "common/file_lock.h"

namespace pacml::apps {

// The folder of one training run:
//   config.yaml      the effective configuration; its presence makes the folder a run
//   metrics.jsonl    one object a line; metrics-K.jsonl: of learner K of several
//   checkpoints/     written by the learner
//   logs/            one file a process
//   replay/          snapshots of replay shards, and who writes them
//   losses           what its last end did not leave in order; otherwise not there
// Immutable.
class RunDirectory {
 public:
  // UserError, here and below: `path` is empty or the root, which are no folders for a run.
  // Makes a new run; of several that try at once, one does. UserError: the folder already holds
  // one, or checkpoints of one, or cannot be written, or has a pipe where its metrics go. An
  // existing folder without a run is taken.
  [[nodiscard]] static RunDirectory create(const std::filesystem::path& path,
                                           std::string_view effective_config);
  // An existing run. UserError: there is none.
  [[nodiscard]] static RunDirectory open(const std::filesystem::path& path);
  // For one of several learners, whose leader writes the run: its own logs and metrics. UserError:
  // the folder cannot be written.
  [[nodiscard]] static RunDirectory join(const std::filesystem::path& path);
  // UserError: there is a run already, or what one has learned.
  static void refuse_existing(const std::filesystem::path& path);
  // Throws as CheckpointFolder::list.
  [[nodiscard]] static bool has_checkpoint(const std::filesystem::path& path);
  // For what is started again without anybody looking: true, when there is a checkpoint to resume
  // from. Otherwise create() will do: a life that ended before its first checkpoint leaves a run
  // that is neither new nor to be resumed, and this clears it. Where there is a best policy, and no
  // checkpoint, nothing is cleared.
  [[nodiscard]] static bool resume_or_clear(const std::filesystem::path& path);
  // Only the latter, for whoever has seen that there is no checkpoint and knows what to begin with.
  // TryAgainError: there is one by now.
  static void clear_what_never_began(const std::filesystem::path& path);
  // What was not left in order when the run ended last (RunSupervisor::losses), until somebody
  // takes note of it. Where it cannot be written, that is logged nowhere: the same was told to the
  // user.
  static void note_losses(const std::filesystem::path& path,
                          const std::vector<std::string>& sentences);
  [[nodiscard]] static std::vector<std::string> take_losses(const std::filesystem::path& path);
  [[nodiscard]] static bool holds_run(const std::filesystem::path& path);
  // For a command that is to write `file`. UserError: it is one of those that make up a run, or
  // would be; but a log may be one of a run's.
  static void refuse_own_file(const std::filesystem::path& file, Writes writes);
  // For one that also begins a run, in `run`. UserError: `file` would be one of its own.
  static void refuse_file_in(const std::filesystem::path& run, const std::filesystem::path& file);

  // Undoes create(), for a run that ends before it has learned anything: the folder can be taken
  // again. Logs and metrics stay.
  void abandon() const;
  // Replaces config.yaml: what a resumed run goes on with. UserError: cannot be written.
  void record(std::string_view effective_config) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // What the run is called: the folder's own name, also where it was given as "runs/a/" or ".".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::filesystem::path config_file() const { return path_ / "config.yaml"; }
  // Of one learner of several, 0 being the leader.
  [[nodiscard]] std::filesystem::path metrics_file(std::int64_t replica = 0) const {
    return path_ /
           (replica == 0 ? "metrics.jsonl" : "metrics-" + std::to_string(replica) + ".jsonl");
  }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  // Where a replay shard of a run there leaves its snapshots, on its own host: the run need not be
  // there yet.
  [[nodiscard]] static std::filesystem::path snapshot_file(const std::filesystem::path& path,
                                                           std::int64_t shard) {
    return path / "replay" / ("shard-" + std::to_string(shard));
  }
  // logs/<role>.log
  [[nodiscard]] std::filesystem::path log_file(const std::string& role) const {
    return path_ / "logs" / (role + ".log");
  }

 private:
  explicit RunDirectory(std::filesystem::path path);
  std::filesystem::path path_;
};

// Keeps a second process from training in the same run. Held for the object's life; a process that
// dies, however it dies, lets go. What former owners were writing when they were killed is removed
// with it. Thread-confined.
class RunLock {
 public:
  // Much longer than whoever only asks has a lock.
  static constexpr Duration kPatience = std::chrono::seconds{1};
  // TryAgainError: another process has held it for `patience`; the sentence names it. Where the
  // file system has no locks it is not held, and a warning says so.
  explicit RunLock(const RunDirectory& run, Duration patience = kPatience);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock() = default;

  // Whether some process, this one included, has the lock of that folder. Any thread.
  [[nodiscard]] static bool is_held(const std::filesystem::path& run);

 private:
  FileLock lock_;
};

// The same for the snapshots of a replay shard, which outlives its learner while it saves its table
// for the last time: whoever goes on with the run before that would begin with an older one.
class SnapshotLock {
 public:
  // As RunLock. UserError: the lock's file, which lies beside the snapshot, cannot be written.
  explicit SnapshotLock(const std::filesystem::path& snapshot,
                        Duration patience = RunLock::kPatience);
  SnapshotLock(const SnapshotLock&) = delete;
  SnapshotLock& operator=(const SnapshotLock&) = delete;
  ~SnapshotLock() = default;

  // Whether some process, this one included, has it; false where the file system has no locks. Any
  // thread.
  [[nodiscard]] static bool is_held(const std::filesystem::path& snapshot);

 private:
  [[nodiscard]] static std::filesystem::path lock_of(const std::filesystem::path& snapshot);
  FileLock lock_;
};

}  // namespace pacml::apps
