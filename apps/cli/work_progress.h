#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>

#include "common/clock.h"

namespace pacml::apps {

// Says how far long work has come: on a terminal one line that is rewritten, and is gone when the
// work has ended; elsewhere a line every ten seconds. Work that is done sooner says nothing.
// Thread-safe.
class WorkProgress {
 public:
  // `what`: counts what is done: "episodes". To standard error.
  explicit WorkProgress(std::string what);
  // The same onto `out`. Borrows both.
  WorkProgress(std::string what, std::ostream& out, bool is_terminal, const Clock& clock);
  WorkProgress(const WorkProgress&) = delete;
  WorkProgress& operator=(const WorkProgress&) = delete;
  ~WorkProgress();

  // `done` of `all`, counted by several threads: an earlier count that comes late is left out. When
  // each has been told, what comes next is further work, which begins anew.
  void tell(std::size_t done, std::size_t all);
  // The same as a function, which must not outlive this object.
  [[nodiscard]] std::function<void(std::size_t, std::size_t)> teller() {
    return [this](std::size_t done, std::size_t all) { tell(done, all); };
  }

 private:
  void say(TimePoint now, std::size_t all);  // under mutex_

  const std::string what_;
  std::ostream* const out_;
  const bool is_terminal_;
  const Clock* const clock_;
  std::mutex mutex_;
  TimePoint begun_;         // under mutex_
  TimePoint next_;          // under mutex_
  std::size_t told_ = 0;    // under mutex_
  std::size_t newest_ = 0;  // under mutex_
  bool shown_ = false;      // under mutex_: a line that has not ended
};

}  // namespace pacml::apps
