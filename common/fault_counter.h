#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "common/clock.h"

namespace pacml {

// Something that is tried again and again while a process goes on, such as writing a file: how
// often it failed, and since when it has not succeeded. The log has the first failure at once, one
// line a minute while it lasts, and its end. Thread-safe.
class FaultCounter {
 public:
  struct Status {
    std::uint64_t failures = 0;
    bool failing = false;    // the newest attempt failed
    std::string last;        // why the newest failure was one; empty: there was none
    double age_seconds = 0;  // since the last success, or since construction
  };

  // `what`: begins the log's sentence: "no checkpoint could be written".
  // Borrows the clock.
  explicit FaultCounter(std::string what, const Clock& clock = steady());

  // `why`: ends the sentence. True: the log has it; false: it had one like it a moment ago.
  bool failed(const std::string& why);
  // True: the log has it, for failures came before.
  bool succeeded();

  [[nodiscard]] Status status() const;

 private:
  const std::string what_;
  const Clock* const clock_;
  mutable std::mutex mutex_;
  Status status_;           // under mutex_; without its age
  TimePoint last_success_;  // under mutex_
  TimePoint next_line_;     // under mutex_: of the log, while failing
};

}  // namespace pacml
