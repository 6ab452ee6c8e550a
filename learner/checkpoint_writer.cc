#include "learner/checkpoint_writer.h"

#include <utility>

#include "common/attempt.h"
#include "common/heartbeat.h"
#include "common/thread_group.h"

namespace pacml::learner {

CheckpointWriter::CheckpointWriter(CheckpointFolder folder, model::ParameterLayout layout,
                                   std::optional<double> best_score)
    : layout_(std::move(layout)), folder_(std::move(folder)), best_on_disk_(best_score) {
  thread_ = std::thread([this] {
    name_this_thread("checkpoints");
    write_until_the_end();
  });
}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::save(Checkpoint checkpoint) {
  {
    const std::scoped_lock lock(mutex_);
    newest_ = std::move(checkpoint);
  }
  changed_.notify_all();
}

void CheckpointWriter::save_best(Checkpoint checkpoint) {
  auto best = std::make_shared<const Checkpoint>(std::move(checkpoint));
  {
    const std::scoped_lock lock(mutex_);
    best_ = std::move(best);
    best_is_new_ = true;
  }
  changed_.notify_all();
}

Result<void> CheckpointWriter::drain() {
  const Rest rest;  // the disk takes the time that it takes
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !newest_ && !best_is_new_ && !writing_; });
  return outcome_;
}

void CheckpointWriter::write_until_the_end() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return newest_ || best_is_new_ || ending_; });
    if (!newest_ && !best_is_new_) return;
    const auto best = best_;
    auto newest = std::exchange(newest_, std::nullopt);
    best_is_new_ = false;
    writing_ = true;
    lock.unlock();

    Result<void> outcome = best ? attempt([&] { return write_best(*best); }) : Result<void>{};
    const bool best_is_there = outcome.has_value();
    if (newest) {
      auto written = attempt([&] { return write(*std::move(newest)); });
      if (!written) outcome = std::move(written);
    }
    if (outcome) {
      faults_.succeeded();
    } else {
      faults_.failed(outcome.error().detail);
    }

    lock.lock();
    if (best_is_there && best_ == best) best_.reset();
    outcome_ = std::move(outcome);
    writing_ = false;
    changed_.notify_all();
  }
}

Result<void> CheckpointWriter::write_best(const Checkpoint& best) {
  auto written = folder_.save_best(best, layout_);
  if (!written) return tl::unexpected(std::move(written.error()));
  best_on_disk_ = best.best_score;
  return {};
}

Result<void> CheckpointWriter::write(Checkpoint checkpoint) {
  // Whoever resumes from it must not take a policy for saved that is not.
  checkpoint.best_score = best_on_disk_;
  return folder_.save(checkpoint, layout_).map([](const auto&) {});
}

}  // namespace pacml::learner
