#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pacml::apps {

// A longer line is answered with an error, and skipped.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;
// How long lines are answered before a server looks at what else there is: signals, other
// questions, probes. A line that takes longer is answered first.
inline constexpr std::chrono::milliseconds kLongestTurn{100};
// Connections that a socket has at once; further ones wait.
inline constexpr std::size_t kMostConnections = 64;

struct LineCallbacks {
  // To a line, without its end; called on the thread that serves.
  std::function<std::string(std::string_view line)> answer;
  // What answers a line that was too long.
  std::function<std::string()> too_long;
  // A new model is wanted (SIGHUP). Makes it, on a thread of its own, ...
  std::function<void()> prepare;
  // ... and takes it over, on the thread that serves. Neither throws.
  std::function<void()> take_over;
};

// Answers lines, each with one, in the order in which they come. SIGHUP asks for another model
// while it goes on; SIGTERM and SIGINT end it, once the answers that are there have been read, or
// nobody has read on for three seconds, or ten have passed, or at the second signal; lines that
// have not been answered by the first one are not. From those who do not read their answers no
// further lines are taken. At the end nobody waits for another model that is being prepared:
// ServiceEvents::leave. One object a process, made before any thread is. Thread-confined.
class LineServer {
 public:
  explicit LineServer(LineCallbacks callbacks, std::chrono::milliseconds turn = kLongestTurn);
  LineServer(const LineServer&) = delete;
  LineServer& operator=(const LineServer&) = delete;
  // Joins the thread that prepares, as ~ServiceEvents does.
  ~LineServer();

  // From standard input to standard output, until the input ends or a signal comes. UserError: the
  // output cannot be written.
  void serve_standard();
  // To whoever connects to a Unix socket at `path`, until a signal comes. Only the user who made it
  // may connect. What a server that is gone left at `path` is replaced. UserError: another server
  // is there, or it cannot be made.
  void serve_socket(const std::string& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::apps
