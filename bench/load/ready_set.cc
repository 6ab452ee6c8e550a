#include "bench/load/ready_set.h"

#include <sys/epoll.h>

#include "common/check.h"

namespace pacml::bench {
namespace {

constexpr int kMostAtOnce = 256;

}  // namespace

ReadySet::ReadySet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  PACML_CHECK(epoll_.is_open(), "out of file descriptors");
}

void ReadySet::add(int fd, std::size_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  PACML_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0, "the descriptor is open");
}

std::span<const std::size_t> ReadySet::wait(Deadline deadline) {
  std::array<epoll_event, kMostAtOnce> events{};
  const int ready = ::epoll_wait(epoll_.get(), events.data(), kMostAtOnce,
                                 static_cast<int>(deadline.remaining().count()));
  keys_.clear();
  // A negative count is a signal that came meanwhile: nothing is ready.
  for (int i = 0; i < ready; ++i) keys_.push_back(events[static_cast<std::size_t>(i)].data.u64);
  return keys_;
}

}  // namespace pacml::bench
