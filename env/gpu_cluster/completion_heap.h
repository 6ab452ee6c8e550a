#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace pacml::env {

// When jobs will be done, each at most once; the first of them on top, at equal times the one of
// the lowest id. Thread-confined.
class CompletionHeap {
 public:
  struct Entry {
    double time = 0;
    std::int32_t job = 0;
    [[nodiscard]] bool before(const Entry& other) const {
      return time < other.time || (time == other.time && job < other.job);
    }
  };

  explicit CompletionHeap(std::size_t num_jobs) : place_(num_jobs, kAbsent) {}

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Pre: not empty().
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  [[nodiscard]] double next_time() const {
    return empty() ? std::numeric_limits<double>::infinity() : top().time;
  }
  // Enters a job, or moves it. O(log n)
  void set(std::int32_t job, double time) {
    std::size_t i = place_[index(job)];
    if (i == kAbsent) {
      i = entries_.size();
      entries_.emplace_back();
    }
    settle(i, {time, job});
  }
  // O(log n); nothing where it is not in.
  void remove(std::int32_t job) {
    const std::size_t i = place_[index(job)];
    if (i == kAbsent) return;
    place_[index(job)] = kAbsent;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (i < entries_.size()) settle(i, last);
  }

 private:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  static std::size_t index(std::int32_t job) { return static_cast<std::size_t>(job); }

  void put(std::size_t i, const Entry& entry) {
    entries_[i] = entry;
    place_[index(entry.job)] = i;
  }

  // From a hole at i to where the entry belongs.
  void settle(std::size_t i, const Entry& entry) {
    while (i > 0 && entry.before(entries_[(i - 1) / 2])) {
      put(i, entries_[(i - 1) / 2]);
      i = (i - 1) / 2;
    }
    for (std::size_t child = 2 * i + 1; child < entries_.size(); child = 2 * i + 1) {
      if (child + 1 < entries_.size() && entries_[child + 1].before(entries_[child])) ++child;
      if (!entries_[child].before(entry)) break;
      put(i, entries_[child]);
      i = child;
    }
    put(i, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> place_;  // [jobs]
};

}  // namespace pacml::env
