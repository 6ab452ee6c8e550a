#include "common/experience/unrolls.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace pacml {
namespace {

// Two steps of two environments; (1, 0) is truncated, (0, 1) terminated.
Unrolls sample() {
  Unrolls u;
  u.steps = 2;
  u.environments = 2;
  u.num_globals = 1;
  u.num_actions = 2;
  resize_columns(u, 1, 1, 1);
  for (auto& m : u.mask) m = 1;
  for (auto& m : u.last_states.mask) m = 1;
  u.flags[u.at(0, 1)] = Unrolls::kTerminated;
  u.flags[u.at(1, 0)] = Unrolls::kTruncated;
  u.last_states.step[0] = 2;
  return u;
}

std::string refusal(const Unrolls& u, const UnrollLimits& limits = {}) {
  const auto result = validate(u, limits);
  return result ? "" : result.error().detail;
}

TEST_CASE("well-formed unrolls are valid", "[experience]") {
  const Unrolls u = sample();
  REQUIRE(refusal(u) == "");
  REQUIRE(u.num_decisions() == 4);
  REQUIRE(u.graph.size() == 6);
  REQUIRE(u.ends_episode(1, 0));
  REQUIRE_FALSE(u.ends_episode(0, 0));
}

TEST_CASE("an empty shape is refused", "[experience]") {
  Unrolls u;
  REQUIRE_THAT(refusal(u), Catch::Contains("at least 1"));
}

TEST_CASE("a column of the wrong length is refused", "[experience]") {
  const auto which = GENERATE(range(0, 13));
  Unrolls u = sample();
  switch (which) {
    case 0:
      u.graph.pop_back();
      break;
    case 1:
      u.globals.push_back(0);
      break;
    case 2:
      u.mask.pop_back();
      break;
    case 3:
      u.action.pop_back();
      break;
    case 4:
      u.behaviour_log_prob.pop_back();
      break;
    case 5:
      u.reward.pop_back();
      break;
    case 6:
      u.flags.pop_back();
      break;
    case 7:
      u.policy_version.pop_back();
      break;
    case 8:
      u.last_states.step.push_back(3);
      break;
    case 9:
      u.last_states.graph.pop_back();
      break;
    case 10:
      u.last_states.globals.pop_back();
      break;
    case 11:
      u.last_states.mask.pop_back();
      break;
    default:
      u.environments = 3;
      break;
  }
  REQUIRE_THAT(refusal(u), Catch::Contains("length"));
}

TEST_CASE("an action must be in range and allowed", "[experience]") {
  Unrolls u = sample();
  u.action[3] = 2;
  REQUIRE_THAT(refusal(u), Catch::Contains("out of range"));
  u.action[3] = -1;
  REQUIRE_THAT(refusal(u), Catch::Contains("out of range"));
  u.action[3] = 1;
  REQUIRE(refusal(u) == "");
  u.mask[3 * 2 + 1] = 0;
  REQUIRE_THAT(refusal(u), Catch::Contains("not allowed"));
}

TEST_CASE("masks hold zeros and ones and allow something", "[experience]") {
  Unrolls u = sample();
  u.mask[10] = 2;
  REQUIRE_THAT(refusal(u), Catch::Contains("other than 0 and 1"));
  u.mask[10] = 0;
  u.mask[11] = 0;
  REQUIRE_THAT(refusal(u), Catch::Contains("no action"));
  u = sample();
  u.last_states.mask = {0, 0};
  REQUIRE_THAT(refusal(u), Catch::Contains("no action"));
}

TEST_CASE("graph indices refer to the list", "[experience]") {
  Unrolls u = sample();
  u.graph[5] = 1;
  REQUIRE_THAT(refusal(u), Catch::Contains("graph index"));
  u = sample();
  u.last_states.graph[0] = 1;
  REQUIRE_THAT(refusal(u), Catch::Contains("graph index"));
}

TEST_CASE("numbers must be finite and log-probabilities not positive", "[experience]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  Unrolls u = sample();
  u.globals[5] = bad;
  REQUIRE_THAT(refusal(u), Catch::Contains("feature"));
  u = sample();
  u.reward[3] = bad;
  REQUIRE_THAT(refusal(u), Catch::Contains("reward"));
  u = sample();
  u.behaviour_log_prob[3] = bad;
  REQUIRE_THAT(refusal(u), Catch::Contains("log-probability"));
  u.behaviour_log_prob[3] = 0.1F;
  REQUIRE_THAT(refusal(u), Catch::Contains("log-probability"));
  u = sample();
  u.episodes[0].episode_return = static_cast<double>(bad);
  REQUIRE_THAT(refusal(u), Catch::Contains("episode"));
}

TEST_CASE("last states belong to exactly the truncated steps", "[experience]") {
  Unrolls u = sample();
  u.last_states.step[0] = 1;
  REQUIRE_THAT(refusal(u), Catch::Contains("lacks its last state"));
  u = sample();
  u.flags[2] = 0;
  REQUIRE_THAT(refusal(u), Catch::Contains("belongs to no truncated step"));
  u.flags[2] = Unrolls::kTruncated | Unrolls::kTerminated;
  REQUIRE_THAT(refusal(u), Catch::Contains("belongs to no truncated step"));
  u = sample();
  u.flags[3] = Unrolls::kTruncated;
  REQUIRE_THAT(refusal(u), Catch::Contains("lacks its last state"));
}

TEST_CASE("unknown flags and falling versions are refused", "[experience]") {
  Unrolls u = sample();
  u.flags[0] = 4;
  REQUIRE_THAT(refusal(u), Catch::Contains("unknown flag"));
  u = sample();
  u.policy_version = {PolicyVersion{2}, PolicyVersion{1}};
  REQUIRE_THAT(refusal(u), Catch::Contains("falls"));
}

TEST_CASE("negative counts of an episode are refused", "[experience]") {
  Unrolls u = sample();
  u.episodes[0].blocked = -1;
  REQUIRE_THAT(refusal(u), Catch::Contains("episode"));
}

TEST_CASE("each limit is kept", "[experience]") {
  const auto over = [](auto member) {
    UnrollLimits limits;
    limits.*member = 0;
    return validate(sample(), limits).error().code == Errc::kOverLimit;
  };
  REQUIRE(over(&UnrollLimits::max_steps));
  REQUIRE(over(&UnrollLimits::max_environments));
  REQUIRE(over(&UnrollLimits::max_decisions));
  REQUIRE(over(&UnrollLimits::max_globals));
  REQUIRE(over(&UnrollLimits::max_actions));
  REQUIRE(over(&UnrollLimits::max_graphs));
  REQUIRE(over(&UnrollLimits::max_episodes));
}

}  // namespace
}  // namespace pacml
