#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "env/placement/placement_heuristics.h"
#include "env/placement/placement_problem.h"
#include "env/placement/placement_search.h"

// Every way that we have to place one graph, compared.

namespace pacml::apps {

struct PlacementEntry {
  std::string name;  // of who found it
  env::GroupPlacement device_of_group;
  double penalised_s = 0;        // what is compared
  double runtime_s = 0;          // of it, without the penalty
  double over_gb = 0;            // of the device that is most over its memory; 0: all fit
  std::int64_t simulations = 0;  // that finding it took
  bool learned = false;          // by a policy that was trained
};

class PlacementContest {
 public:
  explicit PlacementContest(env::PlacementProblemPtr problem);

  // Heuristics; list schedules and descent where they take no more than some seconds; all
  // placements of a graph that is small enough for that.
  void add_baselines();
  // The best of trained policies' episodes on this graph. `graph` and `devices` as the task reads
  // them; `progress` is told decisions made, of all. UserError: no run, or one of another task.
  void add_policy(const std::string& run, const std::string& graph, const std::string& devices,
                  const std::function<void(std::size_t, std::size_t)>& progress);
  // At most `simulations` more from the best of the trained policies on; without one, from the best
  // of all (env::improve). Its improvements. Pre: something has been added, simulations >= 1.
  std::vector<env::FoundPlacement::Improvement> search(std::int64_t simulations,
                                                       std::uint64_t seed);

  // Rules that would have taken longer.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  // The best first.
  [[nodiscard]] const std::vector<PlacementEntry>& entries() const { return entries_; }
  [[nodiscard]] const PlacementEntry& best() const { return entries_.front(); }
  // With the last run that of `entry`.
  [[nodiscard]] env::PlacementSimulator& simulate(const PlacementEntry& entry);

 private:
  void add(std::string name, env::GroupPlacement placement, std::int64_t simulations);
  // With its figures, but for those of who found it.
  void add(PlacementEntry entry);

  env::PlacementProblemPtr problem_;
  env::PlacementEvaluator evaluator_;
  std::vector<PlacementEntry> entries_;
  std::vector<std::string> left_out_;
};

}  // namespace pacml::apps
