#include "common/experience/sequences.h"

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/catch.h"

namespace pacml {
namespace {

// Sequences of 2, 1 and 3 decisions; decision 1 terminated, 4 truncated, 5 both.
Sequences sample() {
  Sequences s;
  s.lengths = {2, 1, 3};
  resize_columns(s, {.sequences = 3, .decisions = 6, .version_runs = 3, .episodes = 1});
  s.observations = Observations(plain_shape(1, 2), s.num_rows() + 1);
  s.observations.set_graphs({GraphHash{7}});
  for (std::size_t i = 0; i < s.observations.size(); ++i) {
    for (auto& valid : s.observations.row(i).mask) valid = 1;
  }
  s.flags[1] = Sequences::kTerminated;
  s.flags[4] = Sequences::kTruncated;
  s.flags[5] = Sequences::kTruncated | Sequences::kTerminated;
  // Rising inside the first sequence, falling between the second and the third.
  s.versions = {{PolicyVersion{3}, 1}, {PolicyVersion{5}, 2}, {PolicyVersion{4}, 3}};
  return s;
}

std::string refusal(const Sequences& s, const SequenceLimits& limits = {}) {
  const auto result = validate(s, limits);
  return result ? "" : result.error().detail;
}

TEST_CASE("well-formed sequences are valid", "[experience]") {
  Sequences s = sample();
  REQUIRE(refusal(s) == "");
  REQUIRE(s.size() == 3);
  REQUIRE(s.num_decisions() == 6);
  REQUIRE(s.num_rows() == 9);
  s.elapsed = {1, 0.5F, 2, 1e-6F, 1e6F, 1};
  REQUIRE(refusal(s) == "");
}

TEST_CASE("a message of nothing but ended episodes is valid", "[experience]") {
  Sequences s;
  s.observations = Observations(plain_shape(1, 2));
  s.episodes.resize(1);
  REQUIRE(refusal(s) == "");
}

TEST_CASE("a column of the wrong length is refused", "[experience]") {
  const auto which = GENERATE(range(0, 7));
  Sequences s = sample();
  switch (which) {
    case 0:
      s.first_step.pop_back();
      break;
    case 1:
      s.action.pop_back();
      break;
    case 2:
      s.behaviour_log_prob.pop_back();
      break;
    case 3:
      s.reward.pop_back();
      break;
    case 4:
      s.flags.pop_back();
      break;
    case 5:
      s.elapsed.assign(5, 1);
      break;
    default:
      s.elapsed.assign(7, 1);
      break;
  }
  REQUIRE_THAT(refusal(s), Catch::Contains("length"));
}

TEST_CASE("lengths must be of all decisions and no more", "[experience]") {
  Sequences s = sample();
  s.lengths = {2, 0, 4};
  REQUIRE_THAT(refusal(s), Catch::Contains("no decisions"));
  s.lengths = {2, 2, 3};
  REQUIRE_THAT(refusal(s), Catch::Contains("longer together"));
  s.lengths = {2, 1, 2};
  REQUIRE_THAT(refusal(s), Catch::Contains("belongs to no sequence"));
  // Sums that would overflow 32 bits, and come out right.
  s.lengths = {0xffffffff, 5, 2};
  SequenceLimits wide;
  wide.max_length = 0xffffffff;
  REQUIRE_THAT(refusal(s, wide), Catch::Contains("longer together"));
}

TEST_CASE("every observation belongs to something, and none is missing", "[experience]") {
  Sequences s = sample();
  s.observations.append_row(Observations(s.observations), 0);
  REQUIRE_THAT(refusal(s), Catch::Contains("belongs to nothing"));
  s = sample();
  s.observations = Observations(s.observations.shape(), s.num_rows());
  REQUIRE_THAT(refusal(s), Catch::Contains("is missing"));
  s = sample();
  s.flags[4] = 0;
  REQUIRE_THAT(refusal(s), Catch::Contains("belongs to nothing"));
  s.flags[4] = Sequences::kTruncated | Sequences::kTerminated;
  REQUIRE_THAT(refusal(s), Catch::Contains("belongs to nothing"));
  s = sample();
  s.flags[0] = Sequences::kTruncated;
  REQUIRE_THAT(refusal(s), Catch::Contains("is missing"));
}

TEST_CASE("an action must be in range and allowed where it was taken", "[experience]") {
  Sequences s = sample();
  s.action[3] = 2;
  REQUIRE_THAT(refusal(s), Catch::Contains("out of range"));
  s.action[3] = -1;
  REQUIRE_THAT(refusal(s), Catch::Contains("out of range"));
  s.action[3] = 1;
  REQUIRE(refusal(s) == "");
  s.observations.row(3).mask[1] = 0;
  REQUIRE(refusal(s) == "");
  s.observations.row(5).mask[1] = 0;  // two sequences before it have a row more each
  REQUIRE_THAT(refusal(s), Catch::Contains("not allowed"));
}

TEST_CASE("a sequence is one agent's", "[experience]") {
  ObservationShape shape = plain_shape(1, 2);
  shape.agents = 2;
  Sequences s = sample();
  s.observations = Observations(shape, s.observations.size());
  s.observations.set_graphs({GraphHash{7}});
  for (std::size_t i = 0; i < s.observations.size(); ++i) {
    for (auto& valid : s.observations.row(i).mask) valid = 1;
  }
  for (const std::size_t row : {3U, 4U}) s.observations.row(row).agent[0] = 1;
  s.observations.row(9).agent[0] = 1;
  REQUIRE(refusal(s) == "");
  const std::size_t row = GENERATE(0U, 1U, 2U, 4U, 8U);
  s.observations.row(row).agent[0] ^= 1;
  REQUIRE_THAT(refusal(s), Catch::Contains("several agents"));
}

TEST_CASE("what is wrong with an observation is said, wherever it is", "[experience]") {
  const std::size_t row = GENERATE(0U, 8U, 9U);
  Sequences s = sample();
  s.observations.row(row).mask[0] = 2;
  REQUIRE_THAT(refusal(s), Catch::Contains("other than 0 and 1"));
  s.observations.row(row).graph[0] = 1;
  REQUIRE_THAT(refusal(s), Catch::Contains("graph index"));
}

TEST_CASE("numbers must be finite and log-probabilities not positive", "[experience]") {
  const float bad =
      GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN());
  Sequences s = sample();
  s.observations.row(5).globals[0] = bad;
  REQUIRE_THAT(refusal(s), Catch::Contains("feature"));
  s = sample();
  s.reward[3] = bad;
  REQUIRE_THAT(refusal(s), Catch::Contains("reward"));
  s = sample();
  s.behaviour_log_prob[3] = bad;
  REQUIRE_THAT(refusal(s), Catch::Contains("log-probability"));
  s.behaviour_log_prob[3] = 0.1F;
  REQUIRE_THAT(refusal(s), Catch::Contains("log-probability"));
  s = sample();
  s.episodes[0].episode_return = static_cast<double>(bad);
  REQUIRE_THAT(refusal(s), Catch::Contains("episode"));
  s = sample();
  s.episodes[0].metrics[kMostMetrics - 1] = static_cast<double>(bad);
  if (std::isinf(bad)) {
    REQUIRE_THAT(refusal(s), Catch::Contains("episode"));
  } else {
    CHECK(validate(s));  // a mean over nothing
  }
}

TEST_CASE("every decision takes some time, and a finite one", "[experience]") {
  Sequences s = sample();
  s.elapsed.assign(6, 1);
  s.elapsed[5] = GENERATE(0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN());
  REQUIRE_THAT(refusal(s), Catch::Contains("took no time"));
}

TEST_CASE("unknown flags are refused", "[experience]") {
  Sequences s = sample();
  s.flags[0] = 4;
  REQUIRE_THAT(refusal(s), Catch::Contains("unknown flag"));
}

TEST_CASE("every decision has one version, which never falls inside a sequence", "[experience]") {
  Sequences s = sample();
  s.versions.back().decisions = 4;
  REQUIRE_THAT(refusal(s), Catch::Contains("more decisions than there are"));
  s.versions.back().decisions = std::numeric_limits<std::uint64_t>::max() - 2;  // 0 in all
  REQUIRE_THAT(refusal(s), Catch::Contains("more decisions than there are"));
  s.versions.back().decisions = 2;
  REQUIRE_THAT(refusal(s), Catch::Contains("has no version"));
  s.versions.push_back({PolicyVersion{4}, 0});
  REQUIRE_THAT(refusal(s), Catch::Contains("a version of no decisions"));
  s.versions.clear();
  REQUIRE_THAT(refusal(s), Catch::Contains("has no version"));
  const auto with = [](const std::vector<std::uint64_t>& lengths) {
    Sequences falling = sample();
    falling.versions.clear();
    std::uint64_t version = 9;
    for (const std::uint64_t length : lengths) {
      falling.versions.push_back({PolicyVersion{version--}, length});
    }
    return refusal(falling);
  };
  CHECK(with({2, 1, 3}) == "");
  CHECK(with({3, 3}) == "");
  CHECK(with({2, 4}) == "");
  CHECK_THAT(with({1, 5}), Catch::Contains("falls"));
  CHECK_THAT(with({2, 1, 2, 1}), Catch::Contains("falls"));
  CHECK_THAT(with({4, 2}), Catch::Contains("falls"));
}

TEST_CASE("versions are written as runs", "[experience]") {
  Sequences s;
  for (const std::uint64_t version : {3, 3, 4, 4, 4, 3}) s.append_version(PolicyVersion{version});
  s.append_version(PolicyVersion{3}, 7);
  CHECK(s.versions == std::vector<VersionRun>{
                          {PolicyVersion{3}, 2}, {PolicyVersion{4}, 3}, {PolicyVersion{3}, 8}});
}

TEST_CASE("negative counts of an episode are refused", "[experience]") {
  Sequences s = sample();
  s.episodes[0].decisions = -1;
  REQUIRE_THAT(refusal(s), Catch::Contains("episode"));
}

TEST_CASE("each limit is kept", "[experience]") {
  const auto over = [](auto member, std::uint32_t limit) {
    SequenceLimits limits;
    limits.*member = limit;
    const auto result = validate(sample(), limits);
    return !result && result.error().code == Errc::kOverLimit;
  };
  CHECK(over(&SequenceLimits::max_length, 2));
  CHECK_FALSE(over(&SequenceLimits::max_length, 3));
  CHECK(over(&SequenceLimits::max_decisions, 5));
  CHECK_FALSE(over(&SequenceLimits::max_decisions, 6));
  CHECK(over(&SequenceLimits::max_episodes, 0));
  SequenceLimits narrow;
  narrow.observations.max_globals = 0;
  CHECK(validate(sample(), narrow).error().code == Errc::kOverLimit);
}

}  // namespace
}  // namespace pacml
