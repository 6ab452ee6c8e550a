#include "common/thread_group.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace pacml {

void name_this_thread(const std::string& name) {
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
}

ThreadGroup::~ThreadGroup() {
  stop_.request_stop();
  wait_for_all();
  if (!first_error_) return;
  try {
    std::rethrow_exception(first_error_);
  } catch (const std::exception& e) {
    spdlog::error("a thread failed: {}", e.what());
  } catch (...) {
    spdlog::error("a thread failed with an unknown exception");
  }
}

void ThreadGroup::spawn(std::string name, std::function<void(std::stop_token)> body) {
  threads_.emplace_back([this, name = std::move(name), body = std::move(body)] {
    name_this_thread(name);
    try {
      body(stop_.get_token());
    } catch (...) {
      {
        const std::scoped_lock lock(mutex_);
        if (!first_error_) first_error_ = std::current_exception();
      }
      stop_.request_stop();
    }
  });
}

void ThreadGroup::join() {
  wait_for_all();
  if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
}

void ThreadGroup::wait_for_all() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace pacml
