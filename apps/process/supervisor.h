#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/process/child_process.h"

namespace boost::asio {
class io_context;
}

namespace pacml::apps {

// How long to wait before a process that died is started again: `first`, then `factor` times as
// long after each death, up to `longest`; from `first` again once a life has lasted
// `healthy_after`, and has given a sign of life where there is a line for it. What asked for
// another try (kExitTryAgain) waits for something, and begins with `first_try_again`.
struct Backoff {
  std::chrono::milliseconds first{250};
  double factor = 2;
  std::chrono::milliseconds longest{30'000};
  std::chrono::milliseconds healthy_after{10'000};
  std::chrono::milliseconds first_try_again{1'000};
  int most_deaths = 0;  // within `window`, after which it is not started again; 0: it always is
  std::chrono::milliseconds window{600'000};
};

// The wait after the n-th death in a row. Pre: deaths >= 1. Pure.
[[nodiscard]] std::chrono::milliseconds delay_after(const Backoff& backoff, int deaths,
                                                    bool asks_for_another_try = false);

struct SupervisedChild {
  ChildSpec spec;
  // Stopping goes from the highest stage down; a stage stops when all above it are gone.
  int stage = 0;
  // Absent: its end is reported, and that is all. Present: it is restarted unless it ended with
  // code 0 (done) or 2 (what only the user can mend).
  std::optional<Backoff> restart;
  // Changes what is started, before each restart: the command of a later life may differ.
  // `has_lived`: whether any life before has given a sign of life, where there is a line for it.
  // What it throws is one more death, with that sentence.
  std::function<void(ChildSpec&, bool has_lived)> before_restart;
  bool may_finish = true;  // false: it is restarted after code 0, too
  // Of a child with a life line: without a sign of life for so long, it is killed; 0: never. The
  // first sign may take two minutes.
  std::chrono::milliseconds silence{0};
  // Of a child that stands for a process on another host: the code with which it ends where it
  // does not reach it. Lives without a sign of life that end so are no deaths, however many.
  std::optional<int> out_of_reach = {};
};

// What happened to a child.
struct ChildReport {
  enum class Kind {
    kStarted,     // also after a restart
    kReady,       // its life line says that it listens to signals
    kSilent,      // gave no sign of life, as `why` says: killed; its death follows
    kRestarting,  // ended as `exit` and `why` say; starts again after `delay`
    kEnded,       // ended as `exit` and `why` say, for good
    kForced,      // did not stop within the patience: killed; kEnded follows
  };
  Kind kind = Kind::kStarted;
  std::string name;
  pid_t pid = 0;
  ChildExit exit;
  std::chrono::milliseconds delay{0};
  bool started =
      true;         // kRestarting, kEnded: there was a life that ended; else `why` there was not
  std::string why;  // it could not be started, or hung; may be empty
  bool forced = false;        // kEnded: we killed it, since it did not stop
  int deaths = 0;             // kEnded: within the window, where there were too many; else 0
  bool out_of_reach = false;  // kRestarting: see SupervisedChild
};

struct ChildStatus {
  std::string name;
  pid_t pid = 0;  // 0: not running now
  std::int64_t restarts = 0;
};

// Starts processes, watches them, restarts those that should run, and stops them in order.
// Thread-confined to the thread that runs `io`, which must be the one that constructs it and
// outlive it. Destroying it kills what still runs.
class Supervisor {
 public:
  using Observer = std::function<void(const ChildReport&)>;

  // `observer` is called from `io`, never from within a call of ours, so it may call us.
  Supervisor(boost::asio::io_context& io, Observer observer);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // UserError: cannot be started; nothing has changed. Pre: no other child has its name, and stop()
  // was not called.
  void start(SupervisedChild child);

  // Starts one again that has ended for good, after its first wait. No effect on any other, nor
  // once stop() was called. Pre: it was started with `restart` (PACML_CHECK).
  void start_again(const std::string& name);

  // SIGTERM for each child of the highest stage; when all have gone, or after their share of
  // `patience` and SIGKILL, the next stage. What a stage does not need is left to those after it,
  // and all of it takes no longer than `patience`. Then `done`, from `io`, once; `io` has no more
  // work of ours then. Called again, it kills at once what is left.
  void stop(std::chrono::milliseconds patience, std::function<void()> done);

  // To a running child; no effect otherwise, and false.
  bool send(const std::string& name, int signal);

  [[nodiscard]] std::vector<ChildStatus> children() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace pacml::apps
