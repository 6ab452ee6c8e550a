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
  resize_columns(u, 1, 1);
  u.observations = Observations(plain_shape(1, 2), u.num_rows() + 1);
  u.observations.set_graphs({GraphHash{7}});
  for (std::size_t i = 0; i < u.observations.size(); ++i) {
    for (auto& valid : u.observations.row(i).mask) valid = 1;
  }
  u.flags[u.at(0, 1)] = Unrolls::kTerminated;
  u.flags[u.at(1, 0)] = Unrolls::kTruncated;
  u.cut[0] = 2;
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
  REQUIRE(u.num_rows() == 6);
  REQUIRE(u.ends_episode(1, 0));
  REQUIRE_FALSE(u.ends_episode(0, 0));
}

TEST_CASE("an empty shape is refused", "[experience]") {
  Unrolls u;
  REQUIRE_THAT(refusal(u), Catch::Contains("at least 1"));
}

TEST_CASE("a column of the wrong length is refused", "[experience]") {
  const auto which = GENERATE(range(0, 9));
  Unrolls u = sample();
  switch (which) {
    case 0:
      u.observations = Observations(u.observations.shape(), 6);
      break;
    case 1:
      u.observations.append_row(Observations(u.observations), 0);
      break;
    case 2:
      u.action.pop_back();
      break;
    case 3:
      u.behaviour_log_prob.pop_back();
      break;
    case 4:
      u.reward.pop_back();
      break;
    case 5:
      u.flags.pop_back();
      break;
    case 6:
      u.policy_version.pop_back();
      break;
    case 7:
      u.cut.push_back(3);
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
  u.observations.row(3).mask[1] = 0;
  REQUIRE_THAT(refusal(u), Catch::Contains("not allowed"));
}

TEST_CASE("what is wrong with an observation is said, wherever it is", "[experience]") {
  const std::size_t row = GENERATE(0U, 5U, 6U);
  Unrolls u = sample();
  u.observations.row(row).mask[0] = 2;
  REQUIRE_THAT(refusal(u), Catch::Contains("other than 0 and 1"));
  u.observations.row(row).graph[0] = 1;
  REQUIRE_THAT(refusal(u), Catch::Contains("graph index"));
}

TEST_CASE("numbers must be finite and log-probabilities not positive", "[experience]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  Unrolls u = sample();
  u.observations.row(5).globals[0] = bad;
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
  u = sample();
  u.episodes[0].metrics[kMostMetrics - 1] = static_cast<double>(bad);
  if (std::isinf(bad)) {
    REQUIRE_THAT(refusal(u), Catch::Contains("episode"));
  } else {
    CHECK(validate(u));  // a mean over nothing
  }
}

TEST_CASE("last states belong to exactly the truncated steps", "[experience]") {
  Unrolls u = sample();
  u.cut[0] = 1;
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
  u.episodes[0].decisions = -1;
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
  REQUIRE(over(&UnrollLimits::max_episodes));
  UnrollLimits narrow;
  narrow.observations.max_globals = 0;
  REQUIRE(validate(sample(), narrow).error().code == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml
