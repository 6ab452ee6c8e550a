#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pacml::planning {

// How far a search looks.
struct SearchConfig {
  int futures = 64;  // that are drawn for each decision, the same for all of its actions; >= 1
  int horizon = 40;  // decisions of each that are played, the one that is searched included; >= 1
  double discount = 1;  // of rewards, and of what is expected to follow the horizon; in (0, 1]
  // Taken off every reward for each unit of time: what the policy's values are relative to.
  double reward_rate = 0;
  // Whether it is what the policy gets in the futures, of late, once there have been some: what
  // expert iteration's values are relative to (actor/expert_behaviour.h).
  bool measures_rate = false;
  // Only actions that the policy finds so likely are tried: the log of their probability is at most
  // this below the best one's; infinite: all.
  double gap = 3;
  // Of what an action comes to in the futures; the rest of 1 is what the policy itself says that it
  // is worth, if it says so: less noise, more bias. In [0, 1].
  double weight = 1;
  // An action that is behind the best by more standard errors of their difference than this is
  // tried no further; infinite: all are tried in all futures. > 0.
  double race = 2.5;
  // Seconds a decision after which no further futures are drawn; 0: no such limit. What is decided
  // then depends on the machine.
  double seconds = 0;
  bool operator==(const SearchConfig&) const = default;
};

// Every problem, as a sentence that begins with the key as parse_search spells it.
[[nodiscard]] std::vector<std::string> validate(const SearchConfig& config);

// Whether parse_search() knows a setting of that name.
[[nodiscard]] bool is_search_key(std::string_view name);

// Reads "K=64,H=40,gamma=0.99,gap=3,weight=0.6,race=2.5,ms=5", any of them, into `config`.
// UserError: another key, no number, or a problem of validate().
[[nodiscard]] SearchConfig parse_search(std::string_view text, SearchConfig config = {});

}  // namespace pacml::planning
