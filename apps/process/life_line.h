#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/clock.h"
#include "common/file_descriptor.h"

// How a process tells the one that started it that it lives: a pipe, on which it says a line each
// second. A process that is stopped, or hangs as a whole, says nothing; one of whose threads hangs
// (common/heartbeat.h) says which. Lines that are not of this kind are somebody else's and mean
// nothing.
//
//     pacml ~        lives, and does not listen to signals yet
//     pacml +        lives
//     pacml ! WHY    a thread hangs
//
// Where nobody listens any more, whoever started it is gone, and with it who would have killed a
// process that does not stop: it has its patience to end, and then ends at once.

namespace pacml::apps {

// The number of the descriptor that it is written to.
inline constexpr const char* kLifeLineVariable = "PACML_LIFE_LINE";
inline constexpr std::chrono::seconds kLifeSignEvery{1};

// The end of a process that was started with one; does nothing in any other. Thread-confined.
class LifeLine {
 public:
  // Says the first line at once. `silence`: of a thread, after which it hangs; 0: none ever does.
  // `patience`: for this process to end when nobody listens any more.
  LifeLine(Duration silence, Duration patience);
  LifeLine(const LifeLine&) = delete;
  LifeLine& operator=(const LifeLine&) = delete;
  ~LifeLine();

  // Whether whoever started this process gave it one, to look after it.
  [[nodiscard]] bool is_open() const { return pipe_.is_open(); }
  // From now on signals are listened to.
  void ready();

 private:
  void say_until_the_end();
  // Does not come back once nobody has listened for the patience.
  void say(const std::string& line);

  const Duration silence_;
  const Duration patience_;
  const FileDescriptor pipe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;                    // under mutex_
  bool ending_ = false;                   // under mutex_
  std::optional<TimePoint> alone_since_;  // touched by thread_ only
  std::thread thread_;
};

// What has come over a life line.
struct LifeSigns {
  bool lives = false;  // something was said
  bool ready = false;  // listens to signals
  std::string hangs;   // which thread does; empty: none
};

// The other end: puts lines together. Value type.
class LifeLineReader {
 public:
  // What `bytes`, with what came before, says.
  [[nodiscard]] LifeSigns take(std::string_view bytes);

 private:
  std::string open_;  // a line that has not ended yet
};

}  // namespace pacml::apps
