#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "common/fault_counter.h"
#include "common/result.h"
#include "learner/checkpoint.h"
#include "model/parameters.h"

namespace pacml::learner {

// Writes a run's checkpoints on a thread of its own, so that the learner pays for the copy of its
// state and never waits for the disk. Of checkpoints that come faster than the disk takes them only
// the newest is written: one slot, and one more for the best policy, which is kept until it is on
// the disk. Failures are counted and logged (FaultCounter); the next checkpoint is the next
// attempt. Thread-safe.
class CheckpointWriter {
 public:
  // `best_score`: of the best policy that the folder has.
  CheckpointWriter(CheckpointFolder folder, model::ParameterLayout layout,
                   std::optional<double> best_score);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  // What was handed over is still tried.
  ~CheckpointWriter();

  // Hands over; never waits. A best policy is written before any later checkpoint; while it cannot
  // be, checkpoints name the score of the one that is there.
  void save(Checkpoint checkpoint);
  void save_best(Checkpoint checkpoint);
  // Waits until everything that was handed over has been tried; the error of what was tried last. A
  // best policy that could not be written is an error, too.
  [[nodiscard]] Result<void> drain();

  [[nodiscard]] FaultCounter::Status status() const { return faults_.status(); }

 private:
  void write_until_the_end();
  [[nodiscard]] Result<void> write_best(const Checkpoint& best);
  [[nodiscard]] Result<void> write(Checkpoint checkpoint);

  const model::ParameterLayout layout_;
  FaultCounter faults_{"no checkpoint could be written"};

  // The writing thread's.
  CheckpointFolder folder_;
  std::optional<double> best_on_disk_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Checkpoint> newest_;        // under mutex_: the slot
  std::shared_ptr<const Checkpoint> best_;  // under mutex_: not yet on the disk
  bool best_is_new_ = false;                // under mutex_: not tried yet
  bool writing_ = false;                    // under mutex_
  bool ending_ = false;                     // under mutex_
  Result<void> outcome_;                    // under mutex_: of what was tried last
  std::thread thread_;
};

}  // namespace pacml::learner
