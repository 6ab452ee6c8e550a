#include "env/gpu_cluster/contention.h"

#include <algorithm>
#include <utility>

namespace pacml::env {
namespace {

// The sum with one more among them, in the order of jobs.
double sum_with(const std::vector<Contention::User>& users, std::int32_t job, double load) {
  double sum = 0;
  bool is_in = false;
  for (const Contention::User& user : users) {
    if (!is_in && user.job > job) {
      sum += load;
      is_in = true;
    }
    sum += user.load;
  }
  return is_in ? sum : sum + load;
}

}  // namespace

Contention::Contention(std::vector<double> capacities)
    : resources_(capacities.size()), factors_(capacities.size(), 1.0) {
  for (std::size_t on = 0; on < capacities.size(); ++on) resources_[on].capacity = capacities[on];
}

bool Contention::set_factor(std::int32_t on, double load) {
  const double factor = std::max(1.0, load / resources_[at(on)].capacity);
  return std::exchange(factors_[at(on)], factor) != factor;
}

bool Contention::sum_up(std::int32_t on) {
  Resource& resource = resources_[at(on)];
  resource.load = 0;
  for (const User& user : resource.users) resource.load += user.load;
  return set_factor(on, resource.load);
}

bool Contention::put(std::int32_t on, std::int32_t job, double load) {
  std::vector<User>& users = resources_[at(on)].users;
  users.insert(std::ranges::lower_bound(users, job, {}, &User::job), {job, load});
  return sum_up(on);
}

bool Contention::take(std::int32_t on, std::int32_t job) {
  std::vector<User>& users = resources_[at(on)].users;
  users.erase(std::ranges::lower_bound(users, job, {}, &User::job));
  return sum_up(on);
}

bool Contention::suppose(std::int32_t on, std::int32_t job, double load) {
  const double former = factor(on);
  if (!set_factor(on, sum_with(users(on), job, load))) return false;
  replaced_.push_back({on, former});
  return true;
}

void Contention::withdraw() {
  for (const Replaced& r : replaced_) factors_[at(r.on)] = r.factor;
  replaced_.clear();
}

}  // namespace pacml::env
