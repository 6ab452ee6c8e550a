#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "learner/replicas/replica_group.h"

namespace pacml::learner {

// Replicas that are threads of one process: sums are taken in the order of ranks, and the last one
// to come does the work.
class ThreadedGroup final : public ReplicaGroup {
 public:
  static std::vector<std::unique_ptr<ThreadedGroup>> make(std::size_t size) {
    auto meeting = std::make_shared<Meeting>();
    meeting->size = size;
    meeting->given.resize(size);
    std::vector<std::unique_ptr<ThreadedGroup>> members;
    for (std::size_t r = 0; r < size; ++r) {
      members.push_back(std::unique_ptr<ThreadedGroup>(new ThreadedGroup(meeting, r)));
    }
    return members;
  }
  ThreadedGroup(const ThreadedGroup&) = delete;
  ThreadedGroup& operator=(const ThreadedGroup&) = delete;
  // As a death: everybody's call fails from now on.
  ~ThreadedGroup() override { leave(); }
  void leave() {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->broken = true;
    meeting_->changed.notify_all();
  }

  [[nodiscard]] std::size_t size() const override { return meeting_->size; }
  [[nodiscard]] std::size_t rank() const override { return rank_; }

  Result<void> gather(std::span<const double> mine, std::vector<double>& all) override {
    std::string bytes;
    for (const double value : mine) append(bytes, value);
    return meet(std::move(bytes), [&](const std::vector<std::string>& given) {
      all.clear();
      for (const auto& row : given) read<double>(row, [&](double value) { all.push_back(value); });
    });
  }
  Result<void> sum(std::span<float> values) override {
    std::string bytes;
    for (const float value : values) append(bytes, value);
    return meet(std::move(bytes), [&](const std::vector<std::string>& given) {
      std::vector<float> total(values.size());
      for (const auto& row : given) {
        std::size_t i = 0;
        read<float>(row, [&](float value) { total.at(i++) += value; });
      }
      std::copy(total.begin(), total.end(), values.begin());
    });
  }
  Result<void> broadcast(std::string& bytes) override {
    return meet(std::string(bytes),
                [&](const std::vector<std::string>& given) { bytes = given.front(); });
  }

 private:
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t size = 0;
    std::size_t came = 0;
    std::size_t round = 0;
    bool broken = false;
    std::vector<std::string> given;  // in the round that is under way
    std::vector<std::string> last;   // in the one before
  };

  ThreadedGroup(std::shared_ptr<Meeting> meeting, std::size_t rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  template <class T>
  static void append(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <class T, class F>
  static void read(const std::string& bytes, F&& take) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      take(value);
    }
  }

  template <class F>
  Result<void> meet(std::string mine, F&& read_all) {
    std::unique_lock lock(meeting_->mutex);
    if (meeting_->broken) return fail(Errc::kDisconnected, "a replica has left");
    meeting_->given[rank_] = std::move(mine);
    const std::size_t round = meeting_->round;
    if (++meeting_->came == meeting_->size) {
      meeting_->came = 0;
      ++meeting_->round;
      std::swap(meeting_->given, meeting_->last);
      meeting_->given.assign(meeting_->size, {});
      meeting_->changed.notify_all();
    }
    meeting_->changed.wait(lock, [&] { return meeting_->round != round || meeting_->broken; });
    if (meeting_->round == round) return fail(Errc::kDisconnected, "a replica has left");
    read_all(meeting_->last);  // nobody can end the next round before this one is out of here
    return {};
  }

  std::shared_ptr<Meeting> meeting_;
  std::size_t rank_;
};

// Runs body(rank) on a thread for each replica, and rethrows what one of them throws.
inline void on_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> failures(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < count; ++r) {
      threads.emplace_back([&, r] {
        try {
          body(r);
        } catch (...) {
          failures[r] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace pacml::learner
