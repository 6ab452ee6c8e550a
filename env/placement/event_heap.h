#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pacml::env {

// What happens at a time: events are in order of time, then of kind, then of two numbers. Value
// type.
struct SimEvent {
  double time = 0;
  std::uint64_t key = 0;

  static constexpr int kBits = 31;  // of each number
  [[nodiscard]] static SimEvent make(double time, std::uint64_t kind, std::uint64_t a,
                                     std::uint64_t b = 0) {
    return {time, kind << (2 * kBits) | a << kBits | b};
  }
  [[nodiscard]] std::uint64_t kind() const { return key >> (2 * kBits); }
  [[nodiscard]] std::size_t a() const { return (key >> kBits) & kMask; }
  [[nodiscard]] std::size_t b() const { return key & kMask; }
  [[nodiscard]] bool before(const SimEvent& other) const {
    return time < other.time || (time == other.time && key < other.key);
  }

 private:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
};

// Pending events, the first of them on top: a binary heap. Thread-confined.
class EventHeap {
 public:
  [[nodiscard]] bool empty() const { return events_.empty(); }
  void clear() { events_.clear(); }
  // O(log n)
  void push(SimEvent event) {
    std::size_t i = events_.size();
    events_.push_back(event);
    while (i > 0) {
      const std::size_t parent = (i - 1) / 2;
      if (!event.before(events_[parent])) break;
      events_[i] = events_[parent];
      i = parent;
    }
    events_[i] = event;
  }
  // Pre: not empty().
  [[nodiscard]] const SimEvent& top() const { return events_.front(); }
  // O(log n). Pre: not empty().
  SimEvent pop() {
    const SimEvent first = events_.front();
    const SimEvent last = events_.back();
    events_.pop_back();
    const std::size_t n = events_.size();
    if (n == 0) return first;
    std::size_t i = 0;
    for (std::size_t child = 1; child < n; child = 2 * i + 1) {
      if (child + 1 < n && events_[child + 1].before(events_[child])) ++child;
      if (!events_[child].before(last)) break;
      events_[i] = events_[child];
      i = child;
    }
    events_[i] = last;
    return first;
  }

 private:
  std::vector<SimEvent> events_;
};

}  // namespace pacml::env
