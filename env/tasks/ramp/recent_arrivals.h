#pragma once

namespace pacml::env {

// What the jobs were like that arrived of late: means over about the last `memory` of them, newer
// ones counting more; over all while there are fewer. What arrives next is likely to be alike,
// which a policy that serves several workloads goes by. Value type.
class RecentArrivals {
 public:
  // 0: nothing is kept.
  explicit RecentArrivals(int memory) : memory_(memory) {}

  void clear() { *this = RecentArrivals(memory_); }
  // `fraction`: the job's limit, as a fraction of its sequential time; above 1, which no workload
  // has, it counts as 1. `arrived`: in simulated time.
  void add(double fraction, double arrived);
  // The last of them arrived at that moment of a clock that has been set anew.
  void set_clock(double last_arrived) { last_arrived_ = last_arrived; }

  [[nodiscard]] bool kept() const { return memory_ > 0; }
  [[nodiscard]] int memory() const { return memory_; }
  // Of the jobs' limits: mean and standard deviation. 0 where there was none.
  [[nodiscard]] double mean_fraction() const { return fraction_; }
  [[nodiscard]] double spread_of_fractions() const;
  // Of the times between arrivals, in simulated time; 0 where there was no second job.
  [[nodiscard]] double mean_gap() const { return gap_; }

 private:
  int memory_;
  int jobs_ = 0;
  double last_arrived_ = 0;
  double fraction_ = 0, square_ = 0;  // means
  double gap_ = 0;
};

}  // namespace pacml::env
