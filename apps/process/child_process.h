#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/file_descriptor.h"
#include "common/result.h"

namespace pacml::apps {

// How a child tells that it lives (apps/process/life_line.h): not at all; over a descriptor whose
// number is in its environment; or, where it stands for a process on another host, over its stdout,
// which then is no part of its log.
enum class LifeLineKind { kNone, kDescriptor, kStdout };

// What to start, and how.
struct ChildSpec {
  std::string name;                  // for reports: "learner", "actor-3"
  std::vector<std::string> command;  // path of the program (no search), then its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // besides ours, or instead
  std::filesystem::path log;  // stdout and stderr are appended there; empty: they are ours
  // True: the child stands for a process on another host, and signals reach that one as text. Then
  // the child's stdin is a stream of ours instead of /dev/null, and send() writes a line with the
  // signal's number to it, except SIGKILL, which is sent to the child itself. The stream ends with
  // us, however we end.
  bool signals_by_stdin = false;
  // Sent to the child when the thread that started it ends, however it ends: nothing is orphaned.
  int signal_on_parent_death = SIGKILL;
  LifeLineKind life_line = LifeLineKind::kNone;
};

// How a process ended: by itself with a code, or by a signal.
struct ChildExit {
  int code = 0;
  int signal = 0;  // 0: it ended by itself
  [[nodiscard]] bool clean() const { return code == 0 && signal == 0; }
  // As a shell tells it: the code, or 128 + the signal.
  [[nodiscard]] int shell_code() const { return signal == 0 ? code : 128 + signal; }
  bool operator==(const ChildExit&) const = default;
};

// "ended with code 2", "was killed by signal 9 (Killed)".
[[nodiscard]] std::string describe(const ChildExit& exit);

// Owns one process, started by fork and exec, in a process group of its own (a terminal's Ctrl-C
// reaches the parent alone, which stops its children in order), with stdin from /dev/null, default
// signal dispositions and none of our open files. Thread-confined to the thread that started it,
// which must outlive it (see signal_on_parent_death). Destroying it kills the process and its
// group.
class ChildProcess {
 public:
  // kIo: the program is not there or cannot be run, its log cannot be opened, or the system is out
  // of processes; the sentence says which. SIGCHLD is not ignored from then on.
  [[nodiscard]] static Result<ChildProcess> spawn(const ChildSpec& spec);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // How it ended, once it has; never waits.
  [[nodiscard]] std::optional<ChildExit> poll();
  // To the process and its group, or down its stdin (signals_by_stdin); never waits. No effect
  // after poll() has seen the end. Signal 0 does nothing but tell that we are there.
  void send(int signal);
  // Kills it, or the process that it stands for (signals_by_stdin); what remains of the latter may
  // need a send(SIGKILL) a few seconds later.
  void kill();
  // What has come over its life line; never waits.
  [[nodiscard]] std::string hear();

 private:
  ChildProcess(pid_t pid, FileDescriptor input, FileDescriptor life_line)
      : pid_(pid), input_(std::move(input)), life_line_(std::move(life_line)) {}
  void kill_and_reap();
  void write_signal(int signal);

  pid_t pid_ = 0;             // 0: moved from
  FileDescriptor input_;      // our end of its stdin, if it has one
  FileDescriptor life_line_;  // our end of it, if it has one
  std::optional<ChildExit> exit_;
};

}  // namespace pacml::apps
