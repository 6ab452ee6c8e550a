#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pacml::env {

// Resources of one kind (sockets, links) that several jobs load at once. Where they ask for more
// than there is, what each does there takes longer: by load over capacity. A load is the sum over
// the jobs in the order of their ids from zero, because adding and subtracting would drift.
// Thread-confined.
class Contention {
 public:
  struct User {
    std::int32_t job = 0;
    double load = 0;
  };

  explicit Contention(std::vector<double> capacities);

  [[nodiscard]] double load(std::int32_t on) const { return resources_[at(on)].load; }
  // How many times longer it takes: at least 1.
  [[nodiscard]] double factor(std::int32_t on) const { return factors_[at(on)]; }
  // Ascending by job.
  [[nodiscard]] const std::vector<User>& users(std::int32_t on) const {
    return resources_[at(on)].users;
  }

  // Whether the factor is another one now. Pre: the job is not, and is, among the users.
  bool put(std::int32_t on, std::int32_t job, double load);
  bool take(std::int32_t on, std::int32_t job);

  // The factor is what it would be with one user more until withdraw(). Whether it is another one.
  bool suppose(std::int32_t on, std::int32_t job, double load);
  void withdraw();

 private:
  struct Resource {
    double capacity = 0;
    double load = 0;
    std::vector<User> users;
  };
  struct Replaced {
    std::int32_t on = 0;
    double factor = 0;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  bool sum_up(std::int32_t on);
  bool set_factor(std::int32_t on, double load);

  std::vector<Resource> resources_;
  std::vector<double> factors_;  // by themselves: rates are computed from them, and from no more
  std::vector<Replaced> replaced_;
};

}  // namespace pacml::env
