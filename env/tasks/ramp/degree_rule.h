#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/ids.h"
#include "env/ramp/cluster_sight.h"

namespace pacml::env {

// Chooses how far to partition the waiting job, by a rule. Thread-confined.
class DegreeRule {
 public:
  virtual ~DegreeRule() = default;
  // Called at the start of an episode, so that what a rule draws is a function of the seed.
  virtual void reset(Seed /*seed*/) {}
  // The degree, 0 to refuse the job; always one that is 1 in `mask` [degrees + 1]. Pre: a job
  // waits.
  [[nodiscard]] virtual int choose(const ClusterSight& cluster,
                                   std::span<const std::uint8_t> mask) = 0;
  [[nodiscard]] virtual std::unique_ptr<DegreeRule> clone() const = 0;
};

// "no_parallelism", "min_parallelism", "max_parallelism", "sip_ml" or "sip_ml:M", "acceptable_jct"
// (alias para_min), "para_max" (sip_ml:16), "random", "constant:K", "min_feasible". UserError for
// another name, with the nearest one, and for a K or M that is no whole number >= 0.
[[nodiscard]] std::unique_ptr<DegreeRule> make_degree_rule(std::string_view name);

// The names without their arguments, and one line each on what they do.
struct DegreeRuleName {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::vector<DegreeRuleName> degree_rule_names();

// Whether a degree may be chosen: 0 always; as published, others where a block of servers exists in
// an empty cluster and enough servers are free, wherever they are.
[[nodiscard]] bool may_choose_degree(const ClusterSight& cluster, int degree);
// Writes which degrees may be chosen, 0/1 [max degree + 1], 0 always: as published, those for which
// a block of servers exists in an empty cluster and enough servers are free, wherever they are.
void write_degree_mask(const ClusterSight& cluster, std::span<std::uint8_t> mask);

// The degrees that ever can be 1 there, but 0, increasing.
[[nodiscard]] std::vector<int> degrees_with_blocks(const Topology& topology, int max_degree);
// What is wrong with a degree that is none of them, in a clause.
[[nodiscard]] std::string no_block_of(int degree, const std::vector<int>& degrees);
// The same of the degree of "constant:K", unless it is 0. Of other rules nothing: the paper's
// refuse where they find no block, as published. `degrees` is asked for a constant alone. Pre:
// make_degree_rule takes the name.
[[nodiscard]] std::optional<std::string> constant_problem(
    std::string_view rule, const std::function<std::vector<int>()>& degrees);

}  // namespace pacml::env
