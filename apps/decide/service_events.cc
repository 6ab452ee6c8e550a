#include "apps/decide/service_events.h"

#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <utility>

#include "common/thread_group.h"
#include "common/try_again.h"

namespace pacml::apps {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : signals) sigaddset(&set, number);
  return set;
}

// While it lives, what ends a service ends the process at once: all that this thread does is wait.
class EndedAtOnce {
 public:
  EndedAtOnce() {
    // The system ends no first process of a container by itself.
    struct sigaction end {};
    end.sa_handler = [](int number) { ::_exit(128 + number); };
    ::sigaction(SIGTERM, &end, &term_before_);
    ::sigaction(SIGINT, &end, &int_before_);
    const sigset_t set = set_of({SIGTERM, SIGINT});
    pthread_sigmask(SIG_UNBLOCK, &set, &blocked_before_);
  }
  EndedAtOnce(const EndedAtOnce&) = delete;
  EndedAtOnce& operator=(const EndedAtOnce&) = delete;
  ~EndedAtOnce() {
    pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
    ::sigaction(SIGINT, &int_before_, nullptr);
    ::sigaction(SIGTERM, &term_before_, nullptr);
  }

 private:
  struct sigaction term_before_ {};
  struct sigaction int_before_ {};
  sigset_t blocked_before_{};
};

}  // namespace

ServiceEvents::ServiceEvents(std::function<void()> prepare, std::function<void()> take_over)
    : prepare_(std::move(prepare)), take_over_(std::move(take_over)) {
  const sigset_t set = set_of({SIGHUP, SIGTERM, SIGINT});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  signals_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  prepared_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signals_.is_open() || !prepared_.is_open()) throw_system_error("signals", errno);
}

ServiceEvents::~ServiceEvents() {
  if (!preparing_.joinable()) return;
  const EndedAtOnce impatient;  // what is prepared is for nobody, and may take minutes
  preparing_.join();
}

void ServiceEvents::leave() const {
  if (!preparing_.joinable()) return;
  spdlog::default_logger()->flush();
  ::_exit(0);  // no destructor may take from that thread what it uses
}

bool ServiceEvents::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGHUP) return true;
    if (preparing_.joinable()) {
      once_more_ = true;
    } else {
      start();
    }
  }
  return false;
}

void ServiceEvents::start() {
  preparing_ = std::thread([this] {
    name_this_thread("next model");
    prepare_();
    const std::uint64_t one = 1;
    static_cast<void>(!::write(prepared_.get(), &one, sizeof one));  // its counter has room
  });
}

void ServiceEvents::take_over() {
  std::uint64_t count = 0;
  if (::read(prepared_.get(), &count, sizeof count) < 0) return;
  preparing_.join();
  take_over_();
  if (std::exchange(once_more_, false)) start();
}

void prepare_first(const std::function<void()>& prepare) {
  // It and the threads that it makes begin with the signals blocked: they come to this one.
  auto preparing = std::async(std::launch::async, [&prepare] {
    name_this_thread("first model");
    prepare();
  });
  {
    const EndedAtOnce until_then;
    preparing.wait();
  }
  preparing.get();
}

}  // namespace pacml::apps
