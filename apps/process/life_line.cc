#include "apps/process/life_line.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/exit_codes.h"
#include "common/heartbeat.h"
#include "common/thread_group.h"

namespace pacml::apps {
namespace {

constexpr std::string_view kMark = "pacml ";
constexpr std::size_t kLongestLine = 1024;

// None: nobody listens. Not to be found by whatever this process starts.
FileDescriptor take_descriptor() {
  const char* const number = std::getenv(kLifeLineVariable);
  if (number == nullptr) return {};
  char* end = nullptr;
  const long fd = std::strtol(number, &end, 10);
  const bool is_number = *number != '\0' && *end == '\0' && fd > STDERR_FILENO && fd < 1'000'000;
  ::unsetenv(kLifeLineVariable);
  if (!is_number || ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC) != 0) return {};
  ::fcntl(static_cast<int>(fd), F_SETFL, O_NONBLOCK);
  return FileDescriptor(static_cast<int>(fd));
}

}  // namespace

LifeLine::LifeLine(Duration silence, Duration patience)
    : silence_(silence), patience_(patience), pipe_(take_descriptor()) {
  if (!pipe_.is_open()) return;
  thread_ = std::thread([this] { say_until_the_end(); });
}

LifeLine::~LifeLine() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LifeLine::ready() {
  {
    const std::scoped_lock lock(mutex_);
    ready_ = true;
  }
  changed_.notify_all();
}

void LifeLine::say_until_the_end() {
  name_this_thread("life-line");
  // Whoever listened may be gone: that is an error of write, and not our end.
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  std::unique_lock lock(mutex_);
  TimePoint last_turn = steady().now();
  TimePoint back_since = last_turn;
  while (!ending_) {
    const bool was_ready = ready_;
    const TimePoint now = steady().now();
    // Where we did not run ourselves, the others may not have run either, as in a process that was
    // suspended as a whole: their silence is measured from now on.
    if (now - last_turn > 3 * kLifeSignEvery) back_since = now;
    last_turn = now;
    const bool tells = now - back_since >= silence_;
    const std::string hangs = tells ? hung_thread(now, silence_) : std::string();
    const std::string line = std::string(kMark) +
                             (!hangs.empty() ? "! " + hangs
                              : was_ready    ? "+"
                                             : "~") +
                             "\n";
    say(line);
    changed_.wait_for(lock, kLifeSignEvery, [&] { return ending_ || ready_ != was_ready; });
  }
}

void LifeLine::say(const std::string& line) {
  if (::write(pipe_.get(), line.data(), line.size()) >= 0 || errno != EPIPE) return;
  const TimePoint now = steady().now();
  if (!alone_since_) alone_since_ = now;
  if (now - *alone_since_ < patience_) return;
  spdlog::critical("whoever started this process is gone, and it has not stopped since: ending");
  spdlog::default_logger()->flush();
  ::_exit(kExitBug);  // no destructor would come back while a thread hangs
}

LifeSigns LifeLineReader::take(std::string_view bytes) {
  LifeSigns signs;
  open_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = open_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string_view line(open_.data() + begin, end - begin);
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (line == "~" || line == "+") {
      signs.lives = true;
      signs.ready = signs.ready || line == "+";
      signs.hangs.clear();  // it was slow, and goes on
    } else if (line.starts_with("! ")) {
      signs.lives = true;
      signs.hangs = line.substr(2);
    }
  }
  open_.erase(0, begin);
  if (open_.size() > kLongestLine) open_.clear();
  return signs;
}

}  // namespace pacml::apps
