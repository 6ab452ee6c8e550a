#include "env/workload/requirement.h"

#include <optional>
#include <string>
#include <utility>

#include "common/result.h"
#include "common/rng.h"

namespace pacml::env {
namespace {

// Only what is in (0, 1] is a requirement. The published grid can end one step above its maximum
// (distribution.h); above 1 that point is dropped, since the published simulator fails on it.
Distribution make_requirement(const DistributionConfig& config) {
  Distribution all = make_distribution(config);
  if (config.kind != DistributionKind::kUniform || all.values().back() <= 1) return all;
  return Distribution(all.values().first(all.values().size() - 1),
                      all.probabilities().first(all.values().size() - 1));
}

// True when every value that the distribution can take is in (0, 1]. Pre: it is valid in itself,
// and no arrival process.
bool takes_fractions(const DistributionConfig& config) {
  if (config.kind == DistributionKind::kUniform || config.kind == DistributionKind::kSkewNormal) {
    return round_to_decimals(config.min, config.decimals) > 0 && config.max <= 1;
  }
  const Distribution distribution = make_distribution(config);
  return distribution.values().front() > 0 && distribution.values().back() <= 1;
}

// What keeps a distribution from being one of fractions. Pre: as above, or an arrival process.
std::optional<std::string> fraction_problem(const DistributionConfig& config) {
  std::string of_kind =
      "kind " + std::string(name_of(config.kind)) + " must have all its values above 0 and up to 1";
  if (is_arrival_process(config.kind)) return of_kind;
  // Also what this kind does not read.
  for (const auto& [key, value] :
       {std::pair{"value", config.value}, {"min", config.min}, {"max", config.max}}) {
    if (!(value > 0 && value <= 1)) return std::string(key) + " must be above 0 and up to 1";
  }
  if (!takes_fractions(config)) return of_kind;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> validate(const RequirementConfig& config) {
  const bool is_list = config.kind == DistributionKind::kList;
  const DistributionConfig& own = config;
  DistributionConfig single = own;
  if (is_list) single.kind = DistributionKind::kFixed;  // its keys are in range, too
  auto problems = validate(single);
  if (problems.empty()) {
    if (auto problem = fraction_problem(single)) problems.push_back(*std::move(problem));
  }
  if (is_list && config.list.empty()) {
    problems.emplace_back("list must name at least one distribution");
  }
  for (const auto& [name, member] : config.list) {
    if (!validate(member).empty()) continue;
    if (const auto problem = fraction_problem(member)) {
      problems.push_back("list: " + name + ": " + *problem);
    }
  }
  return problems;
}

RequirementDistribution::RequirementDistribution(const RequirementConfig& config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  const auto add = [this](const DistributionConfig& member) {
    const bool redrawn = member.kind == DistributionKind::kSkewNormal && member.redraw_each_episode;
    members_.push_back(
        {member, redrawn, std::make_shared<const Distribution>(make_requirement(member))});
  };
  if (config.kind == DistributionKind::kList) {
    for (const auto& [name, member] : config.list) add(member);
  } else {
    add(config);
  }
}

std::shared_ptr<const Distribution> RequirementDistribution::for_episode(Seed episode) const {
  Rng rng(episode);
  const Member& member = members_[members_.size() == 1 ? 0 : rng.below(members_.size())];
  if (!member.redrawn) return member.usual;
  DistributionConfig config = member.config;
  config.seed = hash_combine(config.seed, rng.next());
  return std::make_shared<const Distribution>(make_requirement(config));
}

}  // namespace pacml::env
