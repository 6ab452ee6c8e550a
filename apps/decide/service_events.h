#pragma once

#include <functional>
#include <thread>

#include "common/file_descriptor.h"

namespace pacml::apps {

// What happens to a service besides questions: SIGHUP wants another model, which is prepared on a
// thread of its own and taken over on the one that serves; SIGTERM and SIGINT end it. Both come as
// descriptors to wait for. One object a process, made before any thread is: the signals are blocked
// from then on, and SIGPIPE is ignored. Thread-confined.
class ServiceEvents {
 public:
  // Neither throws.
  ServiceEvents(std::function<void()> prepare, std::function<void()> take_over);
  ServiceEvents(const ServiceEvents&) = delete;
  ServiceEvents& operator=(const ServiceEvents&) = delete;
  // Joins the thread that prepares; meanwhile SIGTERM and SIGINT end the process.
  ~ServiceEvents();
  // For a service that has come to its end: where another model is being prepared, which is for
  // nobody now and may take minutes, ends the process, with code 0.
  void leave() const;

  // Readable where the function below has something to do.
  [[nodiscard]] int signals() const { return signals_.get(); }
  [[nodiscard]] int prepared() const { return prepared_.get(); }
  // True: the end.
  [[nodiscard]] bool take_signals();
  void take_over();

 private:
  void start();

  std::function<void()> prepare_;
  std::function<void()> take_over_;
  FileDescriptor signals_, prepared_;
  std::thread preparing_;
  bool once_more_ = false;  // another one was asked for meanwhile
};

// Makes the first model, on a thread of its own, and waits for it: before there is something to
// serve with, SIGTERM and SIGINT end the process at once. Rethrows. Called by the thread that has
// made the events.
void prepare_first(const std::function<void()>& prepare);

}  // namespace pacml::apps
