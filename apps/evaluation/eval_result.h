#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/experience/episode.h"
#include "env/metric.h"

namespace pacml::apps {

// What a policy did in the episode of one seed.
struct SeedResult {
  std::uint64_t seed = 0;
  EpisodeRecord episode;
  std::string problem = {};  // that the episode was to be about; "": whichever it drew
};

struct PolicyResult {
  std::string name;
  std::vector<SeedResult> seeds;  // the same seeds, in the same order, for every policy
  bool learned = false;           // of a run: no baseline
  std::string method = {};        // of several trainings of one: its name; else ""
};

struct EvalResult {
  std::vector<env::MetricSpec> metrics;  // the task's; the first is what policies are compared by
  std::vector<PolicyResult> policies;
};

// A mean and half the width of its 95 % confidence interval: Student's t over independent seeds,
// t(0.975, n - 1) * s / sqrt(n). NaN where undefined: the mean of nothing, the interval of one.
struct MeanInterval {
  double mean = 0;
  double ci95 = 0;
};
// NaN entries are left out. Pure.
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values);

// Of the task's metric of that number, over a policy's seeds. Pure.
[[nodiscard]] MeanInterval mean_interval(const PolicyResult& policy, std::size_t metric);

struct PairedDifference {
  MeanInterval difference;
  std::int64_t episodes = 0;  // that count
  double mean_of_b = 0;       // over these
};
// What two policies differ by in the objective, a - b, episode by episode: closer than their own
// intervals tell where the same episodes are hard for both. Episodes in which either has no value
// are left out. Pre: the same seeds. Pure.
[[nodiscard]] PairedDifference paired_difference(const PolicyResult& a, const PolicyResult& b);

// The policy that does best by the objective; of equals the first. Pre: there is one. Pure.
[[nodiscard]] const PolicyResult& best_of(const EvalResult& result);

// What every other policy is held against: the best of those that nobody trained. Null: there are
// none. Borrowed. Pure.
[[nodiscard]] const PolicyResult* best_untrained(const EvalResult& result);

// Several trainings that differ by chance alone.
struct Method {
  std::string name;
  std::vector<const PolicyResult*> trainings;  // borrowed
};
// Each once, in their order. Pure.
[[nodiscard]] std::vector<Method> methods_of(const EvalResult& result);

// How trainings differ: each counts by its mean over the episodes, which are the same for all. The
// interval is of training's chance, and says nothing of other episodes.
struct Spread {
  MeanInterval mean;
  double median = 0;
  double least = 0;
  double most = 0;
};
// In the objective; NaN where no training has a value. Pure.
[[nodiscard]] Spread spread_of(const Method& method);

// What a method's trainings differ by from another policy in the objective, training - `other`: the
// mean and its interval over the trainings, each counting by its paired difference. Pre: the same
// seeds. Pure.
[[nodiscard]] PairedDifference paired_difference(const Method& method, const PolicyResult& other);

}  // namespace pacml::apps
