#include "apps/decide/line_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/decide/service_events.h"
#include "common/clock.h"
#include "common/file_descriptor.h"
#include "common/result.h"
#include "common/unix_socket.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Answers that nobody has read yet; beyond them no lines are taken.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;
// Of one connection, before the others have their turn.
constexpr int kLinesAtOnce = 16;
// How long a server that is told to end waits for those who have not read their answers yet, while
// nobody reads on, and in all.
constexpr std::chrono::milliseconds kPatience{3'000};
constexpr std::chrono::milliseconds kLongestPatience{10'000};

[[noreturn]] void fail_with(const std::string& what) {
  throw UserError(what + ": " + std::generic_category().message(errno));
}

// One peer: bytes in, lines out of them, answers to be written.
class Connection {
 public:
  // Standard input and output: not ours to close, and not to be switched to non-blocking.
  Connection(int in, int out) : in_(in), out_(out) {}
  explicit Connection(FileDescriptor socket)
      : socket_(std::move(socket)), in_(socket_.get()), out_(socket_.get()) {}

  [[nodiscard]] int in() const { return in_; }
  [[nodiscard]] int out() const { return out_; }
  [[nodiscard]] bool is_socket() const { return socket_.is_open(); }
  // Whether it would answer a line now, were there one; whether there is one.
  [[nodiscard]] bool has_room() const { return output_.size() - written_ < kMostUnread; }
  [[nodiscard]] bool has_line() const { return next_line_ != std::string::npos; }
  [[nodiscard]] bool wants_input() const { return !ended_ && has_room() && !has_line(); }
  [[nodiscard]] bool wants_output() const { return written_ < output_.size(); }
  [[nodiscard]] bool is_over() const {
    return broken_ || (ended_ && !has_line() && !wants_output());
  }
  [[nodiscard]] bool is_broken() const { return broken_; }

  void read() {
    char bytes[kReadBytes];
    const ssize_t count = ::read(in_, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      // The last line need not end in a newline.
      if (count == 0 && (!input_.empty() || too_long_)) input_ += '\n';
      ended_ = true;
      broken_ = count < 0;
    } else {
      input_.append(bytes, static_cast<std::size_t>(count));
    }
    find_line();
  }

  // At least one line, if there is one.
  void answer(const LineCallbacks& callbacks, const Deadline& end) {
    for (int lines = 0; lines < kLinesAtOnce && has_line() && has_room(); ++lines) {
      if (lines > 0 && end.expired()) return;
      std::string_view line = std::string_view(input_).substr(begin_, next_line_ - begin_);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (too_long_) {
        output_ += callbacks.too_long() + "\n";
        too_long_ = false;
      } else if (!line.empty()) {
        output_ += callbacks.answer(line) + "\n";
      }
      begin_ = next_line_ + 1;
      searched_ = begin_;
      find_line();
    }
  }

  void write() {
    const auto rest = std::string_view(output_).substr(written_);
    // A pipe that is ready takes so much without blocking.
    const std::size_t most =
        is_socket() ? rest.size() : std::min<std::size_t>(rest.size(), PIPE_BUF);
    const ssize_t count = is_socket() ? ::send(out_, rest.data(), most, MSG_NOSIGNAL | MSG_DONTWAIT)
                                      : ::write(out_, rest.data(), most);
    if (count < 0) {
      broken_ = errno != EINTR && errno != EAGAIN;
      return;
    }
    written_ += static_cast<std::size_t>(count);
    // Nobody may ever have read all of it: what is gone must not pile up.
    if (written_ == output_.size() || written_ >= kMostUnread) {
      output_.erase(0, written_);
      written_ = 0;
    }
  }

 private:
  void find_line() {
    next_line_ = input_.find('\n', searched_);
    if (has_line()) {
      too_long_ = too_long_ || next_line_ - begin_ > kLongestLine;
      return;
    }
    input_.erase(0, begin_);
    begin_ = 0;
    if (input_.size() > kLongestLine) too_long_ = true;
    if (too_long_) input_.clear();
    searched_ = input_.size();
  }

  FileDescriptor socket_;
  int in_, out_;
  std::string input_;
  std::size_t begin_ = 0;                      // of the next line
  std::size_t searched_ = 0;                   // there is no newline between there and here
  std::size_t next_line_ = std::string::npos;  // its end
  bool too_long_ = false;                      // its begin has been dropped
  std::string output_;
  std::size_t written_ = 0;
  bool ended_ = false;   // no more input
  bool broken_ = false;  // nobody is there
};

FileDescriptor listen_at(const std::string& path) {
  const std::string what = "--socket " + path;
  if (path.empty() || path.size() > kLongestSocketPath) {
    throw UserError(what + ": a socket's path has 1 .. " + std::to_string(kLongestSocketPath) +
                    " bytes");
  }
  switch (look_at_socket_path(path)) {
    case AtSocketPath::kListener:
      throw UserError(what + ": somebody serves there already");
    case AtSocketPath::kOtherFile:
      throw UserError(what + ": is there, and no socket");
    case AtSocketPath::kFree:
      break;
  }
  FileDescriptor socket = listen_at_socket_path(path, static_cast<int>(kMostConnections));
  if (!socket.is_open()) fail_with(what);
  return socket;
}

}  // namespace

struct LineServer::Impl {
  Impl(LineCallbacks c, std::chrono::milliseconds t)
      : callbacks(std::move(c)), events(callbacks.prepare, callbacks.take_over), turn_length(t) {}

  void accept(int listener) {
    FileDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.is_open()) connections.emplace_back(std::move(socket));
  }

  // Waits for something to do and does it. True: the end.
  bool turn(int listener) {
    std::vector<pollfd> wanted = {{events.signals(), POLLIN, 0}, {events.prepared(), POLLIN, 0}};
    const bool accepts = listener >= 0 && connections.size() < kMostConnections;
    wanted.push_back({accepts ? listener : -1, POLLIN, 0});
    bool has_work = false;
    for (const Connection& peer : connections) {
      has_work = has_work || (peer.has_line() && peer.has_room());
      wanted.push_back({peer.wants_input() ? peer.in() : -1, POLLIN, 0});
      wanted.push_back({peer.wants_output() ? peer.out() : -1, POLLOUT, 0});
    }
    if (::poll(wanted.data(), wanted.size(), has_work ? 0 : -1) < 0 && errno != EINTR) {
      fail_with("poll");
    }
    if (wanted[0].revents != 0 && events.take_signals()) return true;
    if (wanted[1].revents != 0) events.take_over();
    for (std::size_t i = 0; i < connections.size(); ++i) {
      Connection& peer = connections[i];
      if (wanted[3 + 2 * i].revents != 0) peer.read();
      if (wanted[4 + 2 * i].revents != 0) peer.write();
    }
    answer();
    if (wanted[2].revents != 0) accept(listener);
    return false;
  }

  // Whoever had no turn begins the next.
  void answer() {
    const Deadline end = Deadline::in(turn_length);
    for (std::size_t i = 0; i < connections.size(); ++i) {
      Connection& peer = connections[next % connections.size()];
      ++next;
      if (peer.has_line()) peer.answer(callbacks, end);
      if (end.expired()) return;
    }
  }

  // What has been answered, to whom still reads. A second signal ends that, too.
  void hand_out() {
    const Deadline last = Deadline::in(kLongestPatience);
    Deadline end = Deadline::in(kPatience);
    while (true) {
      std::vector<Connection*> unread;
      std::vector<pollfd> wanted = {{events.signals(), POLLIN, 0}};
      for (Connection& peer : connections) {
        if (peer.is_broken() || !peer.wants_output()) continue;
        unread.push_back(&peer);
        wanted.push_back({peer.out(), POLLOUT, 0});
      }
      if (unread.empty() || end.expired() || last.expired()) return;
      const auto left = static_cast<int>(std::min(end.remaining(), last.remaining()).count());
      const int ready = ::poll(wanted.data(), wanted.size(), left);
      if (ready < 0 && errno != EINTR) return;
      if (wanted[0].revents != 0 && events.take_signals()) return;
      if (ready > 0) end = Deadline::in(kPatience);
      for (std::size_t i = 0; i < unread.size(); ++i) {
        if (wanted[i + 1].revents != 0) unread[i]->write();
      }
    }
  }

  LineCallbacks callbacks;
  ServiceEvents events;
  std::chrono::milliseconds turn_length;
  std::vector<Connection> connections;
  std::size_t next = 0;  // who is answered first, modulo how many there are
};

LineServer::LineServer(LineCallbacks callbacks, std::chrono::milliseconds turn)
    : impl_(std::make_unique<Impl>(std::move(callbacks), turn)) {}
LineServer::~LineServer() = default;

void LineServer::serve_standard() {
  impl_->connections.emplace_back(STDIN_FILENO, STDOUT_FILENO);
  const Connection& peer = impl_->connections.front();
  bool told_to_end = false;
  while (!told_to_end && !peer.is_over()) told_to_end = impl_->turn(-1);
  if (told_to_end) {
    impl_->hand_out();
  } else if (peer.is_broken()) {
    throw UserError("standard input or output is gone");
  }
  impl_->events.leave();
}

void LineServer::serve_socket(const std::string& path) {
  FileDescriptor listener = listen_at(path);
  while (!impl_->turn(listener.get())) {
    std::erase_if(impl_->connections, [](const Connection& peer) { return peer.is_over(); });
  }
  // Before nobody listens: whoever comes then takes the path for its own, and that is not ours.
  std::error_code none;
  std::filesystem::remove(path, none);
  listener = {};  // nobody else comes
  impl_->hand_out();
  impl_->events.leave();
}

}  // namespace pacml::apps
