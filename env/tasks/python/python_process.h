#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/file_descriptor.h"
#include "env/tasks/python/config.h"

namespace pacml::env {

// A Python interpreter that runs environments (host.py), asked over a socket for one thing after
// the other. What it prints goes to our stderr. It ends with this object, and within a second after
// a parent that was killed. Thread-confined.
class PythonProcess {
 public:
  // Starts it. UserError: there is no such interpreter, or what the configuration names makes no
  // environment.
  explicit PythonProcess(const PythonConfig& config);
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;
  ~PythonProcess();

  // Of the task, for sentences: "corridor.py, Corridor".
  [[nodiscard]] const std::string& name() const { return name_; }
  // What the task says of itself (host.py, do_start).
  [[nodiscard]] const nlohmann::json& description() const { return description_; }
  // What host.py answers to `what`, of the environment `id`. UserError: the task raised an
  // exception, whose traceback is on stderr, shows what cannot be, or did not answer in time; a
  // late answer would be taken for that to the next question, so that the interpreter is ended
  // then. TryAgainError: the interpreter is gone. UserError, too: this is another process than the
  // one that started it, which alone may ask.
  [[nodiscard]] nlohmann::json ask(const char* what, std::int64_t id, nlohmann::json with = {});

  // A number for one environment more, and the end of one.
  [[nodiscard]] std::int64_t new_id() { return next_id_++; }
  void drop(std::int64_t id) { dropped_.push_back(id); }

 private:
  void start(const PythonConfig& config);
  void end();
  void send(std::string_view text);
  [[nodiscard]] std::string receive(const char* what, Duration patience);
  [[nodiscard]] nlohmann::json answer_to(const char* what, const nlohmann::json& request,
                                         Duration patience);
  // How it has ended, for a sentence: "ended with code 5"; nothing: it has not. It is not reaped
  // then: what it has started, which is to be ended, too, is named by its number.
  [[nodiscard]] std::optional<std::string> how_it_ended() const;
  [[noreturn]] void gone();
  // Ends it, as no answer can be told from the next any more.
  [[noreturn]] void give_up(const std::string& why);

  std::string name_;
  Duration patience_;
  pid_t pid_ = 0;  // 0: reaped
  pid_t owner_;    // whose child it is
  FileDescriptor channel_;
  std::string received_;  // the beginning of the next answer
  nlohmann::json description_;
  std::int64_t next_id_ = 0;
  std::vector<std::int64_t> dropped_;  // environments that are gone, not yet told
};

}  // namespace pacml::env
