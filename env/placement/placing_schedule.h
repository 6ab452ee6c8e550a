#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/placement/placement_problem.h"

namespace pacml::env {

// When the groups that have been placed would run if there were no others, estimated one by one as
// they are placed, like a list schedule: each starts when what it needs is there and its device is
// done with those before. An output is sent once to each device; each channel carries one transfer
// after another. What has not been placed takes no time and sends nothing. Thread-confined.
class PlacingSchedule {
 public:
  // Borrows the problem.
  explicit PlacingSchedule(const PlacementProblem& problem);

  // What the next group would find on a device, in microseconds.
  struct Slot {
    double ready_us = 0;   // all that it needs is there
    double start_us = 0;   // ... and the device is free
    double finish_us = 0;  // it ends
  };
  // O(parents). Pre: not placed yet.
  [[nodiscard]] Slot slot(std::size_t group, std::size_t device) const;
  void place(std::size_t group, std::size_t device);
  [[nodiscard]] std::size_t num_devices() const { return free_us_.size(); }
  // When all that is placed has ended.
  [[nodiscard]] double length_us() const { return length_us_; }

 private:
  // When the output of a placed `parent` is on `device`, sent now if it has not been.
  [[nodiscard]] double arrival_us(std::size_t parent, std::size_t device) const;

  const PlacementProblem* problem_;
  std::vector<std::int32_t> device_of_;  // [groups]; -1: not placed
  std::vector<double> end_us_;           // [groups]
  std::vector<double> sent_us_;          // [groups, devices], arrival; below 0: not sent
  std::vector<double> free_us_;          // [devices]
  std::vector<double> channel_free_us_;  // [channels]
  double length_us_ = 0;
};

}  // namespace pacml::env
