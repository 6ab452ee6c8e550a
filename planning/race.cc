#include "planning/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/check.h"

namespace pacml::planning {
namespace {

// With fewer futures a difference may look certain by chance.
constexpr std::size_t kFewest = 8;

}  // namespace

double Race::Runner::mean() const {
  // In order: the same on every machine.
  return std::accumulate(worth.begin(), worth.end(), 0.0) / static_cast<double>(worth.size());
}

Race::Race(std::span<const int> actions, std::span<const double> priors, double weight)
    : weight_(priors.empty() ? 1 : weight), running_(actions.begin(), actions.end()) {
  PACML_CHECK(!actions.empty(), "somebody to run");
  PACML_CHECK(priors.empty() || priors.size() == actions.size(), "a prior for each action");
  for (std::size_t a = 0; a < actions.size(); ++a) {
    runners_.push_back({actions[a], priors.empty() ? 0 : priors[a], {}});
    places_.push_back(a);
  }
}

void Race::add(std::span<const double> worth) {
  PACML_CHECK(worth.size() % places_.size() == 0, "one number for each that runs");
  for (std::size_t i = 0; i < worth.size(); ++i) {
    runners_[places_[i % places_.size()]].worth.push_back(worth[i]);
  }
}

void Race::put_out(double errors) {
  if (futures() < kFewest) return;
  const Runner& first = leader();
  std::erase_if(places_, [&](std::size_t place) {
    return &runners_[place] != &first && errors_behind(runners_[place], first) > errors;
  });
  running_.clear();
  for (const std::size_t place : places_) running_.push_back(runners_[place].action);
}

double Race::worth(const Runner& runner) const {
  return weight_ * runner.mean() + (1 - weight_) * runner.prior;
}

int Race::best() const { return leader().action; }

std::size_t Race::futures() const { return runners_[places_.front()].worth.size(); }

const Race::Runner& Race::leader() const {
  return runners_[*std::ranges::max_element(
      places_, {}, [&](std::size_t place) { return worth(runners_[place]); })];
}

double Race::errors_behind(const Runner& runner, const Runner& leader) const {
  const auto n = static_cast<double>(leader.worth.size());
  const double mean = leader.mean() - runner.mean();
  double squares = 0;
  for (std::size_t f = 0; f < leader.worth.size(); ++f) {
    const double off = leader.worth[f] - runner.worth[f] - mean;
    squares += off * off;
  }
  const double behind = worth(leader) - worth(runner);
  const double error = weight_ * std::sqrt(squares / (n * (n - 1)));
  if (behind <= 0) return 0;
  return error > 0 ? behind / error : std::numeric_limits<double>::infinity();
}

}  // namespace pacml::planning
