#include "env/tasks/python/python_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "common/check.h"
#include "common/heartbeat.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/try_again.h"
#include "env/tasks/python/host.h"

namespace pacml::env {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kEnd{10'000};  // whoever closes the channel ends
constexpr Duration kStart = in_seconds(60);        // at least: it may import whatever there is
constexpr std::chrono::milliseconds kTurn{100};    // of a wait, before the thread beats
constexpr int kChannel = 3;                        // its number in the child
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  // of one answer

// Takes host.py over the channel, so that it needs no file and no long command line.
constexpr const char* kBootstrap =
    "import socket; channel = socket.socket(fileno=3).makefile('rwb');"
    " exec(compile(channel.read(int(channel.readline())), 'pacml/host.py', 'exec'))";

std::string name_of(const PythonConfig& config) {
  const std::string place =
      config.file.empty() ? config.module : std::filesystem::path(config.file).filename().string();
  return place + ", " + config.make;
}

// posix_spawn's arguments, which are C's.
class SpawnActions {
 public:
  SpawnActions() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // A terminal's Ctrl-C is for us; signals mean what they mean by default.
  void of_our_own() {
    sigset_t none{};
    sigset_t all{};
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  void connect(int channel) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, channel, kChannel);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Ours, and that sets of strings have one order: what an environment does is a function of its
// seed.
std::vector<std::string> environment_of_child() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  if (std::getenv("PYTHONHASHSEED") == nullptr) all.emplace_back("PYTHONHASHSEED=0");
  return all;
}

// As host.py reads them: each a text of JSON, or any other.
json arguments_of(const PythonConfig& config) {
  json all = json::object();
  for (const auto& [name, value] : config.settings) all[name] = value.value_or("null");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& each : strings) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

PythonProcess::PythonProcess(const PythonConfig& config)
    : name_(name_of(config)), patience_(in_seconds(config.answer_seconds)), owner_(::getpid()) {
  start(config);
  const json request = {{"do", "start"},
                        {"file", config.file},
                        {"module", config.module},
                        {"make", config.make},
                        {"settings", arguments_of(config)}};
  try {
    send(std::to_string(python_host().size()) + "\n" + std::string(python_host()));
    description_ = answer_to("start", request, std::max(kStart, patience_));
  } catch (...) {
    end();
    throw;
  }
}

PythonProcess::~PythonProcess() { end(); }

void PythonProcess::start(const PythonConfig& config) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_system_error("no socket for Python", errno);
  }
  channel_ = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  // It reads what we say before it answers; where it does not, we do not wait for ever.
  const timeval patience{static_cast<time_t>(config.answer_seconds.count()) + 1, 0};
  ::setsockopt(channel_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  SpawnActions spawn;
  spawn.of_our_own();
  spawn.connect(theirs.get());
  std::vector<std::string> words = {config.interpreter, "-c", kBootstrap};
  std::vector<std::string> environment = environment_of_child();
  const int error =
      ::posix_spawnp(&pid_, config.interpreter.c_str(), spawn.actions(), spawn.attributes(),
                     pointers(words).data(), pointers(environment).data());
  if (error != 0) {
    pid_ = 0;
    throw_system_error(config.interpreter + " (env.interpreter) cannot be started", error);
  }
}

void PythonProcess::end() {
  channel_.reset();  // the end of its input
  // A fork of us has a copy of this object, not the child.
  if (pid_ == 0 || ::getpid() != owner_) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

json PythonProcess::ask(const char* what, std::int64_t id, json with) {
  if (::getpid() != owner_) {
    throw UserError(name_ + ": its environments are of the process that made them, not of a fork");
  }
  with["do"] = what;
  with["env"] = id;
  if (!dropped_.empty()) with["dropped"] = std::exchange(dropped_, {});
  return answer_to(what, with, patience_);
}

json PythonProcess::answer_to(const char* what, const json& request, Duration patience) {
  send(json_text(request) + "\n");
  const std::string line = receive(what, patience);
  json answer = json::parse(line, nullptr, false);
  if (answer.is_discarded() || !answer.is_object()) {
    give_up(std::string(what) + " was answered with something that is no JSON");
  }
  if (answer.contains("error")) {
    throw UserError(name_ + ": " + what + ": " + answer["error"].get<std::string>());
  }
  return std::move(answer["ok"]);
}

void PythonProcess::send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(channel_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) gone();
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string PythonProcess::receive(const char* what, Duration patience) {
  const Deadline deadline = Deadline::in(patience);
  std::size_t searched = 0;
  for (;;) {
    if (const auto end = received_.find('\n', searched); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (searched > kMostBytes) {
      give_up(std::string(what) + " answered more than 64 MiB");
    }
    beat();  // how long it may take, its own patience says
    pollfd wait{channel_.get(), POLLIN, 0};
    const auto turn = std::min(deadline.remaining(), kTurn);
    const int ready = ::poll(&wait, 1, static_cast<int>(turn.count()));
    if (ready < 0 && errno != EINTR) throw_system_error("waiting for Python", errno);
    if (ready == 0 && deadline.expired()) {
      give_up(std::string(what) + " took too long (env.answer_seconds)");
    }
    // What it has started may hold the channel open when it is gone.
    if (ready == 0 && how_it_ended()) gone();
    if (ready <= 0) continue;
    std::array<char, 65536> piece{};
    const ssize_t got = ::recv(channel_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) gone();
    received_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

void PythonProcess::give_up(const std::string& why) {
  end();
  throw UserError(name_ + ": " + why);
}

std::optional<std::string> PythonProcess::how_it_ended() const {
  siginfo_t end{};
  if (pid_ == 0 ||
      ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      end.si_pid != pid_) {
    return std::nullopt;
  }
  return (end.si_code == CLD_EXITED ? "ended with code " : "was killed by signal ") +
         std::to_string(end.si_status);
}

void PythonProcess::gone() {
  std::string how = "does not listen any more";
  const Deadline deadline = Deadline::in(kEnd);
  while (pid_ != 0 && !deadline.expired()) {
    if (const auto ended = how_it_ended()) {
      how = *ended;
      end();
    } else {
      std::this_thread::sleep_for(kEnd / 1000);
    }
  }
  throw TryAgainError("the Python process of " + name_ + " " + how);
}

}  // namespace pacml::env
