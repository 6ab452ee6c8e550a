#include "env/workload/arrival_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/result.h"

namespace pacml::env {
namespace {

// Exponentially distributed with mean 1, above 0: of the middles of 2^52 equal parts of (0, 1).
double exponential(std::uint64_t word) {
  return -std::log((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
}

DistributionConfig checked_arrivals(DistributionConfig config) {
  auto problems = validate(config);
  if (problems.empty()) problems = arrival_problems(config);
  if (!problems.empty()) throw UserError(problems.front());
  return config;
}

}  // namespace

std::vector<std::string> arrival_problems(const DistributionConfig& config) {
  // Also what this kind does not read.
  std::vector<std::string> problems;
  if (!(config.value > 0)) problems.emplace_back("value must be above 0");
  if (!(config.min >= 0)) problems.emplace_back("min must be at least 0");
  if (!(config.max > 0)) problems.emplace_back("max must be above 0");
  if (!problems.empty() || is_arrival_process(config.kind)) return problems;
  if (make_distribution(config).values().front() > 0) return {};
  return {"must have all its values above 0"};
}

ArrivalProcess::ArrivalProcess(const DistributionConfig& config) {
  if (!is_arrival_process(checked_arrivals(config).kind)) {
    values_ = make_distribution(config);
    mean_ = values_->mean();
    return;
  }
  mean_ = config.value;
  if (config.kind != DistributionKind::kDiurnal) return;
  amplitude_ = config.amplitude;
  period_ = config.period;
}

double ArrivalProcess::expected(double time) const {
  if (amplitude_ == 0) return time / mean_;
  const double turn = 2 * std::numbers::pi / period_;
  return (time + amplitude_ / turn * (1 - std::cos(turn * std::fmod(time, period_)))) / mean_;
}

double ArrivalProcess::drawn(double time, std::uint64_t word, double load) const {
  const double wanted = mean_ * exponential(word) / load;
  if (amplitude_ == 0) return wanted;
  // The integral of mean * rate over a time, less what is wanted, has one root.
  const double turn = 2 * std::numbers::pi / period_;
  const double swing = amplitude_ / turn;
  const double phase = std::fmod(time, period_);
  const double begin = std::cos(turn * phase);
  double low = std::max(0.0, wanted - 2 * swing);
  double high = wanted + 2 * swing;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;  // neighbours: nothing is between them
    const double so_far = middle + swing * (begin - std::cos(turn * (phase + middle)));
    (so_far < wanted ? low : high) = middle;
  }
}

}  // namespace pacml::env
