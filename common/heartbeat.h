#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/clock.h"

// How a thread that hangs is told from one that waits: each long-lived thread of a process has a
// heartbeat, and beats wherever its loop turns. Who watches (apps/http, apps/process/life_line)
// asks which of them has been silent, and for how long.

namespace pacml {

// While it exists, the calling thread is one of those that are watched. One for each thread, which
// makes and destroys it.
class Heartbeat {
 public:
  // `thread`: its name in sentences: "learn".
  explicit Heartbeat(std::string thread);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();
};

// The calling thread goes on. Cheap: a clock and an atomic, and a chore that is due; nothing in a
// thread that has neither heartbeat nor chore. Throws what the chore throws.
void beat();

// While it exists, the calling thread's beats do this as well, as often as `every` at most: what
// must not wait until work that may take long is done. One for each thread at a time, which makes
// and destroys it. Beats from within the chore do not do it again.
class Chore {
 public:
  Chore(Duration every, std::function<void()> chore);
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  ~Chore();

 private:
  friend void beat();
  void do_if_due(TimePoint now) const;

  Duration every_;
  std::function<void()> chore_;
  mutable TimePoint due_;
  mutable bool busy_ = false;
};

// While it exists, the calling thread is not expected to beat: it waits for what may never come, or
// for a disk. Nests.
class Rest {
 public:
  Rest();
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;
  ~Rest();
};

struct Silence {
  std::string thread;
  Duration lasted;
};
// Of the watched threads, the one that has been silent for the longest; those at rest do not count.
// nullopt: there is none. Thread-safe.
[[nodiscard]] std::optional<Silence> longest_silence(TimePoint now);

// "thread learn has been silent for 42 s", where one has been for `limit` or longer; otherwise
// empty. `limit` 0: never. Thread-safe.
[[nodiscard]] std::string hung_thread(TimePoint now, Duration limit);

}  // namespace pacml
