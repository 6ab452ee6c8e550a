#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pacml::planning {

// Actions that are tried in the same futures, in rounds; whoever falls so far behind the best that
// chance does not explain it is tried no further (races: Maron and Moore 1994). What has passed in
// one future concerns all who are in it, so that differences are what is looked at: they vary much
// less than what an action comes to. Thread-confined.
class Race {
 public:
  struct Runner {
    int action = 0;
    double prior = 0;           // what is said of it beforehand
    std::vector<double> worth;  // what it came to, in each future that it was in
    [[nodiscard]] double mean() const;
  };

  // `actions`: at least one. `priors` [actions], or empty. What an action is worth is `weight` of
  // its mean and the rest of 1 of its prior; all of the mean where there are no priors.
  Race(std::span<const int> actions, std::span<const double> priors, double weight);

  // Whose turn it is: those that nothing has put out of the race, in their order at the start. At
  // least one.
  [[nodiscard]] std::span<const int> running() const { return running_; }
  // What they came to in further futures: [futures, running()].
  void add(std::span<const double> worth);
  // Puts out who is behind the best by more than so many standard errors of the mean difference;
  // nobody as long as there are too few futures to say.
  void put_out(double errors);

  [[nodiscard]] double worth(const Runner& runner) const;
  // All of them, those that are out as well, in their order at the start.
  [[nodiscard]] std::span<const Runner> runners() const { return runners_; }
  // Of those that run; of equals the first. Pre: add() was called.
  [[nodiscard]] int best() const;
  // Of those that run, so far.
  [[nodiscard]] std::size_t futures() const;

 private:
  [[nodiscard]] const Runner& leader() const;
  // By how many standard errors of the difference `runner` is behind; infinite: always by the same.
  [[nodiscard]] double errors_behind(const Runner& runner, const Runner& leader) const;

  double weight_;
  std::vector<Runner> runners_;
  std::vector<std::size_t> places_;  // of those that run, in runners_
  std::vector<int> running_;         // their actions
};

}  // namespace pacml::planning
