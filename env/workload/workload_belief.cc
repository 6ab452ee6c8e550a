#include "env/workload/workload_belief.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace pacml::env {
namespace {

// What a requirement gives a limit that it never has: a belief that may turn out to be wrong, as
// where the requirement is drawn anew for every episode, must leave room for it.
constexpr double kLeastProbability = 1e-6;

double probability(const Distribution& distribution, double value) {
  const auto values = distribution.values();
  const auto found = std::ranges::lower_bound(values, value);
  if (found == values.end() || *found != value) return kLeastProbability;
  const auto at = static_cast<std::size_t>(found - values.begin());
  return std::max(distribution.probabilities()[at], kLeastProbability);
}

// One of them, each with the probability that the logs are of but for what they have in common.
std::size_t choose(std::span<const double> logs, std::uint64_t word) {
  const double greatest = *std::ranges::max_element(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - greatest);
  double left = std::ldexp(static_cast<double>(word), -64) * sum;
  for (std::size_t i = 0; i + 1 < logs.size(); ++i) {
    left -= std::exp(logs[i] - greatest);
    if (left < 0) return i;
  }
  return logs.size() - 1;
}

}  // namespace

WorkloadBelief::WorkloadBelief(const WorkloadPlan& plan) {
  const std::size_t members = plan.requirement().members();
  if (members > 1 && plan.recorded() == nullptr) log_likelihoods_.assign(members, 0.0);
}

void WorkloadBelief::see(const WorkloadPlan& plan, double fraction) {
  for (std::size_t i = 0; i < log_likelihoods_.size(); ++i) {
    log_likelihoods_[i] += std::log(probability(*plan.requirement().usual(i), fraction));
  }
}

std::shared_ptr<const Distribution> WorkloadBelief::requirement(const WorkloadPlan& plan,
                                                                std::uint64_t word) const {
  return plan.requirement().usual(log_likelihoods_.empty() ? 0 : choose(log_likelihoods_, word));
}

double WorkloadBelief::load(const WorkloadPlan& plan, std::uint64_t jobs, double time,
                            std::uint64_t word) {
  const auto loads = plan.loads();
  if (loads.empty()) return 1;
  const double gaps = jobs > 1 && !plan.recorded() ? static_cast<double>(jobs - 1) : 0;
  const double expected = gaps > 0 ? plan.interarrival().expected(time) : 0;  // at load 1
  std::vector<double> logs;
  for (const double load : loads) logs.push_back(gaps * std::log(load) - load * expected);
  return loads[choose(logs, word)];
}

}  // namespace pacml::env
