#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/clock.h"

namespace pacml::serving {

// What a server said of itself, and when. Immutable.
struct StatusSnapshot {
  std::string text;  // a JSON object
  TimePoint taken;
};

// Where a thread leaves its newest status about once a second, for threads that may not look into
// what it owns. How old that is tells whether the thread still turns. Thread-safe; nobody waits.
class StatusBoard {
 public:
  void publish(std::string text, TimePoint taken) {
    auto snapshot = std::make_shared<const StatusSnapshot>(StatusSnapshot{std::move(text), taken});
    const std::scoped_lock lock(mutex_);
    newest_ = std::move(snapshot);
  }
  // Null before the first.
  [[nodiscard]] std::shared_ptr<const StatusSnapshot> newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const StatusSnapshot> newest_;  // under mutex_
};

}  // namespace pacml::serving
