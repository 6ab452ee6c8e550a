#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/workload/distribution.h"

namespace pacml::env {

// Every problem that times between arrivals have beside those of validate(config), as a sentence
// that begins with the key. Pre: validate(config) finds none.
[[nodiscard]] std::vector<std::string> arrival_problems(const DistributionConfig& config);

// The times between the arrivals of jobs, in the unit of the op times. Of the kinds of
// distributions, kPoisson has times that are exponentially distributed, and kDiurnal is a Poisson
// process whose rate changes with the time of day,
//
//   rate(t) = (1 + amplitude sin(2 pi t / period)) / value
//
// drawn exactly: the rate's integral from one arrival to the next is exponentially distributed
// (Daley and Vere-Jones 2003, section 7.4). Immutable.
class ArrivalProcess {
 public:
  // Throws UserError with the first problem of the config.
  explicit ArrivalProcess(const DistributionConfig& config);

  [[nodiscard]] double mean() const { return mean_; }
  // How many are to be expected from time 0 to `time` >= 0.
  [[nodiscard]] double expected(double time) const;
  // The time from an arrival at `time` >= 0 to the next, > 0, that a word stands for; a uniformly
  // distributed word gives each with its probability. `load`: they come so many times as often; a
  // day stays as long as it is.
  [[nodiscard]] double until_next(double time, std::uint64_t word, double load = 1) const {
    return values_ ? values_->value_of(word) / load : drawn(time, word, load);
  }

 private:
  [[nodiscard]] double drawn(double time, std::uint64_t word, double load) const;

  std::optional<Distribution> values_;  // of the other kinds
  double mean_ = 0;
  double amplitude_ = 0;
  double period_ = 1;
};

}  // namespace pacml::env
