#include "env/tasks/ramp/degree_rule.h"

#include <algorithm>
#include <cmath>

#include "common/read_number.h"
#include "common/result.h"
#include "common/rng.h"
#include "common/text.h"

namespace pacml::env {
namespace {

template <class Derived>
class CopiedRule : public DegreeRule {
 public:
  [[nodiscard]] std::unique_ptr<DegreeRule> clone() const final {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }

 private:
  friend Derived;
  CopiedRule() = default;
};

using Mask = std::span<const std::uint8_t>;

// Refusal is one of them.
std::size_t num_valid(Mask mask) {
  return static_cast<std::size_t>(std::ranges::count(mask, std::uint8_t{1}));
}

int largest_valid(Mask mask) {
  std::size_t a = mask.size() - 1;
  while (mask[a] == 0) --a;
  return static_cast<int>(a);
}

// A masked choice counts as a refusal, as in the published environment.
int if_valid(int degree, Mask mask) {
  const auto d = static_cast<std::size_t>(degree);
  return d < mask.size() && mask[d] != 0 ? degree : 0;
}

class NoParallelism final : public CopiedRule<NoParallelism> {
 public:
  int choose(const ClusterSight& /*cluster*/, Mask mask) override {
    return num_valid(mask) > 1 ? 1 : 0;
  }
};

class MinParallelism final : public CopiedRule<MinParallelism> {
 public:
  int choose(const ClusterSight& /*cluster*/, Mask mask) override {
    const std::size_t valid = num_valid(mask);
    if (valid > 2) return if_valid(2, mask);
    return valid == 2 ? 1 : 0;
  }
};

class MaxParallelism final : public CopiedRule<MaxParallelism> {
 public:
  int choose(const ClusterSight& /*cluster*/, Mask mask) override { return largest_valid(mask); }
};

// SiP-ML: the same degree for every job, as far as there is room.
class SipMl final : public CopiedRule<SipMl> {
 public:
  explicit SipMl(std::optional<int> most) : most_(most) {}

  int choose(const ClusterSight& /*cluster*/, Mask mask) override {
    const int largest = largest_valid(mask);
    return if_valid(std::min(most_.value_or(largest), largest), mask);
  }

 private:
  std::optional<int> most_;
};

// The smallest degree that would meet the limit if speed-up were perfect.
class AcceptableJct final : public CopiedRule<AcceptableJct> {
 public:
  int choose(const ClusterSight& cluster, Mask mask) override {
    const Job& job = cluster.waiting_job();
    const double target = std::ceil(job.sequential_time / job.max_acceptable_time);
    for (std::size_t a = 1; a < mask.size(); ++a) {
      if (mask[a] != 0 && static_cast<double>(a) >= target) return static_cast<int>(a);
    }
    return largest_valid(mask);
  }
};

class RandomChoice final : public CopiedRule<RandomChoice> {
 public:
  void reset(Seed seed) override { rng_ = Rng(derive(seed, Purpose::kHeuristic, 0)); }

  int choose(const ClusterSight& /*cluster*/, Mask mask) override {
    const std::size_t valid = num_valid(mask);
    if (valid == 1) return 0;
    std::size_t left = rng_.below(valid - 1);
    int degree = 1;
    while (mask[static_cast<std::size_t>(degree)] == 0 || left-- > 0) ++degree;
    return degree;
  }

 private:
  Rng rng_{Seed{0}};
};

class Constant final : public CopiedRule<Constant> {
 public:
  explicit Constant(int degree) : degree_(degree) {}

  int choose(const ClusterSight& /*cluster*/, Mask mask) override {
    return if_valid(degree_, mask);
  }

 private:
  int degree_;
};

// The smallest degree that is placed and whose own lookahead meets the limit; refuses when none
// does.
class MinFeasible final : public CopiedRule<MinFeasible> {
 public:
  int choose(const ClusterSight& cluster, Mask mask) override {
    for (int degree = 1; static_cast<std::size_t>(degree) < mask.size(); ++degree) {
      if (mask[static_cast<std::size_t>(degree)] == 0) continue;
      const BlockCause cause = cluster.outlook({.degree = degree}).cause;
      if (cause == BlockCause::kNone || cause == BlockCause::kSimulationEnded) return degree;
    }
    return 0;
  }
};

std::optional<int> parse_argument(std::string_view name, std::string_view argument) {
  if (argument.empty()) return std::nullopt;
  const auto value = read_number<int>(argument);
  if (!value || *value < 0) {
    throw UserError("policy " + std::string(name) + ": \"" + std::string(argument) +
                    "\" is no whole number >= 0");
  }
  return value;
}

std::string_view base_name(std::string_view name) { return name.substr(0, name.find(':')); }

int free_servers(const ClusterSight& cluster) {
  return cluster.memo().topology().num_servers() - cluster.mounted_workers();
}

bool may_choose(const Topology& topology, int free, int degree) {
  return degree == 0 || (degree <= free && topology.has_block_shape(degree));
}

}  // namespace

std::vector<DegreeRuleName> degree_rule_names() {
  return {
      {"no_parallelism", "never partitions a job"},
      {"min_parallelism", "always degree 2"},
      {"max_parallelism", "the largest degree that the mask allows"},
      {"sip_ml",
       "sip_ml:M: degree M (which refuses where it is none), or the largest valid one if that is "
       "smaller"},
      {"para_max", "sip_ml:16, the paper's maximum parallelisation"},
      {"acceptable_jct", "the smallest degree that could meet the limit with perfect speed-up"},
      {"para_min", "acceptable_jct under the paper's name"},
      {"random", "any valid degree, all equally likely"},
      {"constant", "constant:K: degree K, or refusal"},
      {"min_feasible", "the smallest degree whose own lookahead meets the limit"}};
}

bool may_choose_degree(const ClusterSight& cluster, int degree) {
  return may_choose(cluster.memo().topology(), free_servers(cluster), degree);
}

void write_degree_mask(const ClusterSight& cluster, std::span<std::uint8_t> mask) {
  const Topology& topology = cluster.memo().topology();
  const int free = free_servers(cluster);
  for (std::size_t a = 0; a < mask.size(); ++a) {
    mask[a] = may_choose(topology, free, static_cast<int>(a)) ? 1 : 0;
  }
}

std::vector<int> degrees_with_blocks(const Topology& topology, int max_degree) {
  std::vector<int> degrees;
  for (int degree = 1; degree <= std::min(max_degree, topology.num_servers()); ++degree) {
    if (topology.has_block_shape(degree)) degrees.push_back(degree);
  }
  return degrees;
}

std::string no_block_of(int degree, const std::vector<int>& degrees) {
  std::vector<std::string> known;
  for (const int one : degrees) known.push_back(std::to_string(one));
  return "would refuse every job, as there is no block of " + std::to_string(degree) +
         " servers; degrees are " + join(known);
}

std::optional<std::string> constant_problem(std::string_view rule,
                                            const std::function<std::vector<int>()>& degrees) {
  constexpr std::string_view kConstant = "constant:";
  if (!rule.starts_with(kConstant)) return std::nullopt;
  const int degree = *read_number<int>(rule.substr(kConstant.size()));
  if (degree == 0) return std::nullopt;
  const std::vector<int> known = degrees();
  if (std::ranges::find(known, degree) != known.end()) return std::nullopt;
  return no_block_of(degree, known);
}

std::unique_ptr<DegreeRule> make_degree_rule(std::string_view name) {
  const std::string_view base = base_name(name);
  const auto rules = degree_rule_names();
  if (std::ranges::find(rules, base, &DegreeRuleName::name) == rules.end()) {
    std::vector<std::string> known;
    for (const auto& rule : rules) known.emplace_back(rule.name);
    throw UserError("there is no policy \"" + std::string(name) + "\"" + did_you_mean(base, known));
  }
  const auto colon = name.find(':');
  const auto argument =
      parse_argument(name, colon == std::string_view::npos ? "" : name.substr(colon + 1));
  if (base != "sip_ml" && base != "constant" && colon != std::string_view::npos) {
    throw UserError("policy " + std::string(base) + " takes no argument, found \"" +
                    std::string(name) + "\"");
  }
  if (base == "no_parallelism") return std::make_unique<NoParallelism>();
  if (base == "min_parallelism") return std::make_unique<MinParallelism>();
  if (base == "max_parallelism") return std::make_unique<MaxParallelism>();
  if (base == "sip_ml") return std::make_unique<SipMl>(argument);
  if (base == "para_max") return std::make_unique<SipMl>(16);
  if (base == "acceptable_jct" || base == "para_min") return std::make_unique<AcceptableJct>();
  if (base == "random") return std::make_unique<RandomChoice>();
  if (base == "min_feasible") return std::make_unique<MinFeasible>();
  if (!argument) throw UserError("policy constant needs a degree, e.g. constant:4");
  return std::make_unique<Constant>(*argument);
}

}  // namespace pacml::env
