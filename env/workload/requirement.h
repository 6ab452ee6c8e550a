#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common/ids.h"
#include "env/workload/distribution.h"

namespace pacml::env {

// How fast a job must be: its greatest acceptable completion time, as a fraction in (0, 1] of the
// time that it takes on one device.
struct RequirementConfig : DistributionConfig {
  RequirementConfig() { kind = DistributionKind::kUniform; }
  // list: name -> distribution; every episode draws one of them, all equally likely.
  std::map<std::string, DistributionConfig> list;
  bool operator==(const RequirementConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, RequirementConfig>
void visit_fields(Config& c, Visitor&& v) {
  using Base =
      std::conditional_t<std::is_const_v<Config>, const DistributionConfig, DistributionConfig>;
  visit_fields(static_cast<Base&>(c), v);
  v("list", c.list);
}

// Every problem, as a sentence that begins with the key; those that a member of the list has by
// itself are left to validate(member).
[[nodiscard]] std::vector<std::string> validate(const RequirementConfig& config);

// The requirement of a workload. Immutable.
class RequirementDistribution {
 public:
  // Throws UserError with the first problem of the config or of a member of its list.
  explicit RequirementDistribution(const RequirementConfig& config);

  // The distribution of the fractions of one episode's job pool: a pure function of `episode`. It
  // is always the same object, except for a list (one of its members) and a skew_normal that is
  // redrawn (a new one, which takes some 3 ms).
  [[nodiscard]] std::shared_ptr<const Distribution> for_episode(Seed episode) const;

  // How many an episode may have: one, but for a list. At least one.
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  // Such a one; of a skew_normal that is redrawn, what it is with its own seed.
  [[nodiscard]] const std::shared_ptr<const Distribution>& usual(std::size_t member) const {
    return members_[member].usual;
  }

 private:
  struct Member {
    DistributionConfig config;
    bool redrawn = false;  // for every episode
    std::shared_ptr<const Distribution> usual;
  };
  std::vector<Member> members_;  // one, or those of the list in the order of their names
};

}  // namespace pacml::env
