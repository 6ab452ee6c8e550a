#include "common/work_crew.h"

#include <utility>

#include "common/check.h"
#include "common/thread_group.h"

namespace pacml {

WorkCrew::WorkCrew(std::size_t size, const std::string& name) {
  PACML_CHECK(size >= 1, "a crew has an owner");
  errors_.resize(size);
  for (std::size_t number = 1; number < size; ++number) {
    threads_.emplace_back([this, number, name] {
      name_this_thread(name + "-" + std::to_string(number));
      work(number);
    });
  }
}

WorkCrew::~WorkCrew() {
  part_ = nullptr;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkCrew::run(const std::function<void(std::size_t)>& part) {
  part_ = &part;
  busy_.store(static_cast<std::uint32_t>(threads_.size()));
  round_.fetch_add(1);
  round_.notify_all();
  do_part(0);
  for (std::uint32_t busy = busy_.load(); busy != 0; busy = busy_.load()) busy_.wait(busy);
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (auto thrown = std::exchange(error, nullptr); thrown && !first) first = std::move(thrown);
  }
  if (first) std::rethrow_exception(first);
}

void WorkCrew::work(std::size_t number) {
  for (std::uint32_t seen = 0;; ++seen) {
    round_.wait(seen);
    if (part_ == nullptr) return;
    do_part(number);
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

void WorkCrew::do_part(std::size_t number) {
  try {
    (*part_)(number);
  } catch (...) {
    errors_[number] = std::current_exception();
  }
}

}  // namespace pacml
