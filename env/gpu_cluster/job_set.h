#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pacml::env {

// Some of the jobs 0 .. n - 1, each once. Emptying it costs nothing, so that it serves again and
// again. Thread-confined.
class JobSet {
 public:
  explicit JobSet(std::size_t num_jobs) : round_of_(num_jobs) {}

  void clear() {
    ++round_;
    jobs_.clear();
  }
  void insert(std::int32_t job) {
    std::uint64_t& round = round_of_[static_cast<std::size_t>(job)];
    if (round == round_) return;
    round = round_;
    jobs_.push_back(job);
  }
  // As they were inserted. Borrowed until the next change.
  [[nodiscard]] std::span<const std::int32_t> jobs() const { return jobs_; }
  // Ascending from now on.
  [[nodiscard]] std::span<const std::int32_t> sorted() {
    std::ranges::sort(jobs_);
    return jobs_;
  }

 private:
  std::vector<std::int32_t> jobs_;
  std::vector<std::uint64_t> round_of_;  // [jobs]: when it was inserted last
  std::uint64_t round_ = 1;
};

}  // namespace pacml::env
