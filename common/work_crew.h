#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pacml {

// Threads that do the parts of one piece of work at the same time, again and again, and wait in
// between. Thread-confined to the owner, who does one part himself.
class WorkCrew {
 public:
  // `size`: parts, at least 1 (PACML_CHECK), of which the owner's is number 0. `name`: of the
  // threads, shown by ps and debuggers.
  WorkCrew(std::size_t size, const std::string& name);
  WorkCrew(const WorkCrew&) = delete;
  WorkCrew& operator=(const WorkCrew&) = delete;
  ~WorkCrew();

  [[nodiscard]] std::size_t size() const { return errors_.size(); }
  // Calls part(0) .. part(size() - 1), each on a thread of its own, and returns when all have
  // returned. If some throw, the exception of the first of them by number.
  void run(const std::function<void(std::size_t)>& part);

 private:
  void work(std::size_t number);
  void do_part(std::size_t number);

  const std::function<void(std::size_t)>* part_ = nullptr;  // null: the crew goes home
  std::vector<std::exception_ptr> errors_;                  // [size]
  std::atomic<std::uint32_t> round_ = 0;                    // grows when there is work
  std::atomic<std::uint32_t> busy_ = 0;                     // threads that have not finished it
  std::vector<std::thread> threads_;
};

}  // namespace pacml
