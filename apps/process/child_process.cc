#include "apps/process/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "apps/process/life_line.h"
#include "common/check.h"

namespace pacml::apps {
namespace {

// Everything that the child needs, made before the fork: after it, only async-signal-safe calls.
struct Image {
  std::vector<std::string> words;
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;

  // `life_line`: the child's end of it; -1: it has none.
  Image(const ChildSpec& spec, int life_line) : words(spec.command) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!is_replaced(*entry, spec)) variables.emplace_back(*entry);
    }
    for (const auto& [name, value] : spec.environment) variables.push_back(name + "=" + value);
    if (spec.life_line == LifeLineKind::kDescriptor) {
      variables.push_back(std::string(kLifeLineVariable) + "=" + std::to_string(life_line));
    }
    point_at(words, argv);
    point_at(variables, envp);
  }

 private:
  static bool is_replaced(std::string_view entry, const ChildSpec& spec) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name == kLifeLineVariable) return true;  // ours is not our child's
    return std::ranges::any_of(spec.environment, [&](const auto& v) { return v.first == name; });
  }
  static void point_at(std::vector<std::string>& strings, std::vector<char*>& pointers) {
    for (std::string& s : strings) pointers.push_back(s.data());
    pointers.push_back(nullptr);
  }
};

// The child's ends; -1: none.
struct Ends {
  int input = -1;
  int output = -1;     // stdout and stderr; -1: ours
  int life_line = -1;  // that it inherits
  int told = -1;       // stdout, where that is the life line
  int status = -1;     // answers with errno when the program could not be started
};

// In the child.
[[noreturn]] void become(const Image& image, const Ends& ends, pid_t parent,
                         int signal_on_parent_death) {
  // Our handlers must not run in the child: they write to pipes that both processes share. All
  // signals are still blocked here.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, signal_on_parent_death);
  if (::getppid() != parent) ::_exit(1);  // it died before prctl could see it
  ::dup2(ends.input, STDIN_FILENO);
  if (ends.output >= 0) {
    ::dup2(ends.output, STDOUT_FILENO);
    ::dup2(ends.output, STDERR_FILENO);
  }
  if (ends.told >= 0) ::dup2(ends.told, STDOUT_FILENO);
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (ends.life_line >= 0) ::fcntl(ends.life_line, F_SETFD, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(image.argv[0], image.argv.data(), image.envp.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(ends.status, &error, sizeof error);
  ::_exit(127);
}

std::string reason(int error) { return std::strerror(error); }

// Whoever started us may ignore the ends of children, and we with them: then the system would keep
// from us how ours have ended.
void want_ends_of_children() {
  struct sigaction action {};
  ::sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN) ::signal(SIGCHLD, SIG_DFL);
}

}  // namespace

std::string describe(const ChildExit& exit) {
  if (exit.signal == 0) return "ended with code " + std::to_string(exit.code);
  return "was killed by signal " + std::to_string(exit.signal) + " (" + ::strsignal(exit.signal) +
         ")";
}

Result<ChildProcess> ChildProcess::spawn(const ChildSpec& spec) {
  PACML_CHECK(!spec.command.empty(), "a command has at least a program");
  want_ends_of_children();
  // A stream for signals is a socket, because writing to one can be told not to raise SIGPIPE.
  std::array<int, 2> stream = {-1, -1};
  if (spec.signals_by_stdin &&
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream.data()) != 0) {
    return fail(Errc::kIo, "socketpair: " + reason(errno));
  }
  FileDescriptor our_end(stream[0]);
  const FileDescriptor input(spec.signals_by_stdin ? stream[1]
                                                   : ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  // A pipe that nobody reads from would not open.
  constexpr int kAppends = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
  const FileDescriptor output(spec.log.empty() ? -1 : ::open(spec.log.c_str(), kAppends, 0644));
  if (!spec.log.empty() && !output.is_open()) {
    return fail(Errc::kIo, "cannot write " + spec.log.string() + ": " +
                               (errno == ENXIO ? "nobody reads from it" : reason(errno)));
  }
  if (output.is_open() && ::fcntl(output.get(), F_SETFL, O_APPEND) != 0) {
    return fail(Errc::kIo, "cannot write " + spec.log.string() + ": " + reason(errno));
  }
  std::array<int, 2> line = {-1, -1};
  if (spec.life_line != LifeLineKind::kNone && ::pipe2(line.data(), O_CLOEXEC) != 0) {
    return fail(Errc::kIo, "pipe: " + reason(errno));
  }
  FileDescriptor our_line(line[0]);
  const FileDescriptor its_line(line[1]);
  if (our_line.is_open()) ::fcntl(our_line.get(), F_SETFL, O_NONBLOCK);
  const Image image(spec, its_line.get());
  // Closed by a successful exec; carries errno of a failed one.
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Errc::kIo, "pipe: " + reason(errno));
  const FileDescriptor status_read(ends[0]);
  FileDescriptor status_write(ends[1]);

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  const int fork_error = errno;
  if (pid == 0) {
    const bool by_stdout = spec.life_line == LifeLineKind::kStdout;
    become(image,
           {.input = input.get(),
            .output = output.get(),
            .life_line = by_stdout ? -1 : its_line.get(),
            .told = by_stdout ? its_line.get() : -1,
            .status = status_write.get()},
           parent, spec.signal_on_parent_death);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(Errc::kIo, "fork: " + reason(fork_error));

  ChildProcess child(pid, std::move(our_end), std::move(our_line));
  status_write.reset();
  int exec_error = 0;
  ssize_t got = 0;
  do {
    got = ::read(status_read.get(), &exec_error, sizeof exec_error);
  } while (got < 0 && errno == EINTR);
  if (got > 0) return fail(Errc::kIo, "cannot run " + spec.command[0] + ": " + reason(exec_error));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      input_(std::move(other.input_)),
      life_line_(std::move(other.life_line_)),
      exit_(other.exit_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, 0);
    input_ = std::move(other.input_);
    life_line_ = std::move(other.life_line_);
    exit_ = other.exit_;
  }
  return *this;
}

ChildProcess::~ChildProcess() { kill_and_reap(); }

void ChildProcess::kill_and_reap() {
  input_.reset();
  life_line_.reset();
  if (pid_ == 0 || exit_) return;
  send(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<ChildExit> ChildProcess::poll() {
  if (exit_) return exit_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  PACML_CHECK(ended >= 0 || errno == EINTR, "nobody else waits for our children");
  if (ended != pid_) return std::nullopt;
  exit_ = WIFSIGNALED(status) ? ChildExit{0, WTERMSIG(status)} : ChildExit{WEXITSTATUS(status), 0};
  return exit_;
}

void ChildProcess::send(int signal) {
  if (pid_ == 0 || exit_) return;
  if (!input_.is_open() || signal == SIGKILL) {
    ::kill(-pid_, signal);
    return;
  }
  write_signal(signal);
}

void ChildProcess::kill() {
  if (pid_ == 0 || exit_) return;
  if (!input_.is_open()) return send(SIGKILL);
  write_signal(SIGKILL);
}

std::string ChildProcess::hear() {
  std::string heard;
  std::array<char, 4096> block{};
  while (life_line_.is_open()) {
    const ssize_t got = ::read(life_line_.get(), block.data(), block.size());
    if (got > 0) heard.append(block.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  return heard;
}

void ChildProcess::write_signal(int signal) {
  // What does not fit has a reader that does not read: it is on its way out, or will be killed.
  const std::string line = std::to_string(signal) + "\n";
  [[maybe_unused]] const auto sent =
      ::send(input_.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace pacml::apps
