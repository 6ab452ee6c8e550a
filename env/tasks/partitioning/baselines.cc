#include "env/tasks/partitioning/baselines.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/result.h"
#include "common/text.h"
#include "env/tasks/partitioning/environment.h"
#include "env/tasks/partitioning/imagined_partitioning.h"
#include "env/tasks/ramp/degree_rule.h"

namespace pacml::env {
namespace {

class RuleAgent final : public Agent {
 public:
  explicit RuleAgent(std::unique_ptr<DegreeRule> rule) : rule_(std::move(rule)) {}
  void reset(Seed seed) override { rule_->reset(seed); }
  [[nodiscard]] int act(const Environment& environment) override {
    if (const auto* imagined = dynamic_cast<const ImaginedPartitioning*>(&environment)) {
      return rule_->choose(imagined->cluster(), imagined->mask());
    }
    const auto* partitioning = dynamic_cast<const PartitioningEnv*>(&environment);
    PACML_CHECK(partitioning != nullptr, "the rules of partitioning decide about nothing else");
    return rule_->choose(partitioning->cluster(), partitioning->mask());
  }

 private:
  std::unique_ptr<DegreeRule> rule_;
};

// Those that any of the clusters has blocks for.
std::vector<int> degrees_of(const PartitioningConfig& config) {
  std::set<int> degrees;
  for (const auto& topology : topologies(config)) {
    const Topology blocks(topology, config.max_partitions_per_op);
    const auto of_this = degrees_with_blocks(blocks, config.max_partitions_per_op);
    degrees.insert(of_this.begin(), of_this.end());
  }
  return {degrees.begin(), degrees.end()};
}

// What comparisons show, in this order; the paper's names where there are two.
constexpr auto kCompared = std::to_array<std::string_view>(
    {"para_max", "para_min", "min_parallelism", "random", "best_constant", "min_feasible"});

}  // namespace

std::vector<Baseline> partitioning_baselines(const PartitioningTask& task) {
  const PartitioningConfig& config = task.config();
  std::vector<Baseline> all;
  for (const auto& [name, description] : degree_rule_names()) {
    all.push_back({std::string(name), std::string(description), false, {}});
  }
  Baseline best{"best_constant", "the constant degree that does best on tuning episodes", true, {}};
  for (const int degree : degrees_of(config))
    best.best_of.push_back("constant:" + std::to_string(degree));
  all.push_back(std::move(best));

  std::vector<Baseline> ordered;
  for (const std::string_view name : kCompared) {
    const auto found = std::ranges::find(all, name, &Baseline::name);
    found->compared = true;
    ordered.push_back(std::move(*found));
    all.erase(found);
  }
  ordered.insert(ordered.end(), all.begin(), all.end());
  return ordered;
}

std::unique_ptr<Agent> make_partitioning_agent(const PartitioningTask& task,
                                               std::string_view name) {
  auto rule = make_degree_rule(name);
  const auto problem = constant_problem(name, [&] { return degrees_of(task.config()); });
  if (problem) throw UserError("policy " + std::string(name) + ": " + *problem);
  return std::make_unique<RuleAgent>(std::move(rule));
}

}  // namespace pacml::env
