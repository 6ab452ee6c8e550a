#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>

#include "common/check.h"
#include "common/clock.h"
#include "common/result.h"

namespace pacml {

// First in, first out, between threads; a full queue makes the producer wait. Thread-safe: push and
// pop block, with a deadline and a stop token; everything else returns at once.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {
    PACML_CHECK(capacity > 0, "a queue holds at least one item");
  }

  // Takes the item, or leaves it untouched on error. kTimeout: stayed full. kStopped: the queue is
  // closed or `stop` was requested.
  [[nodiscard]] Result<void> push(T&& item, std::stop_token stop = {},
                                  Deadline deadline = Deadline::never()) {
    std::unique_lock lock(mutex_);
    wait(not_full_, lock, stop, deadline, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_ || stop.stop_requested()) return fail(Errc::kStopped);
    if (items_.size() >= capacity_) return fail(Errc::kTimeout);
    items_.push_back(std::move(item));
    lock.unlock();
    not_empty_.notify_one();
    return {};
  }

  // What was accepted before a close is still handed out. kTimeout: nothing came. kStopped: closed
  // and empty, or `stop` was requested and nothing is there.
  [[nodiscard]] Result<T> pop(std::stop_token stop = {}, Deadline deadline = Deadline::never()) {
    std::unique_lock lock(mutex_);
    wait(not_empty_, lock, stop, deadline, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) {
      return fail(closed_ || stop.stop_requested() ? Errc::kStopped : Errc::kTimeout);
    }
    T item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  [[nodiscard]] Result<void> try_push(T&& item) {
    return push(std::move(item), {}, Deadline::now());
  }
  [[nodiscard]] Result<T> try_pop() { return pop({}, Deadline::now()); }

  // No more items are taken; waiting threads wake.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    not_empty_.notify_all();
    not_full_.notify_all();
  }
  [[nodiscard]] bool closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return items_.size();
  }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  template <class Predicate>
  static void wait(std::condition_variable_any& condition, std::unique_lock<std::mutex>& lock,
                   std::stop_token stop, Deadline deadline, Predicate ready) {
    if (ready() || deadline.expired(TimePoint{})) return;  // Deadline::now() costs no clock read
    if (deadline.is_never()) {
      condition.wait(lock, stop, ready);
    } else {
      condition.wait_until(lock, stop, deadline.at(), ready);
    }
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any not_empty_;
  std::condition_variable_any not_full_;
  std::deque<T> items_;  // under mutex_
  bool closed_ = false;  // under mutex_
};

}  // namespace pacml
