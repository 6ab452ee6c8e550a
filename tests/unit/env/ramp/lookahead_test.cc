#include "env/ramp/lookahead.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

using Ticks = std::vector<std::pair<int, double>>;

Ticks ticks(const Lookahead& step) {
  Ticks out;
  for (const auto& tick : step.ticks) out.emplace_back(tick.active_ops, tick.length);
  return out;
}

// A job whose dependencies take times that a test sets by hand; 0 unless set.
struct Job {
  Job(const Profile& profile, int degree, Placement where)
      : job(std::make_shared<const PartitionedGraph>(testing::make_graph(profile), degree, 0.01,
                                                     1.0, DependencyBytes::kMemory)),
        placement(std::move(where)),
        server(server_of_ops(*job, placement)),
        time(job->src().size(), 0.0) {}

  double& between(OpIndex src, OpIndex dst) {
    for (std::size_t d = 0; d < time.size(); ++d) {
      if (job->src()[d] == src && job->dst()[d] == dst) return time[d];
    }
    FAIL("there is no such dependency");
    return time[0];
  }
  [[nodiscard]] Lookahead run(SemanticSwitches switches = {}) const {
    return simulate_step(*job, placement, server, time, 4, switches);
  }

  PartitionedGraphPtr job;
  Placement placement;
  std::vector<Server> server;
  std::vector<double> time;
};

// An op of the forward pass alone.
ForwardOp forward(int id, double time) { return {id, "Op", time, 0, 1, 0}; }

TEST_CASE("on one server a step takes the sum of its ops", "[lookahead]") {
  const Job j(testing::make_profile({{1, "A", 4, 6, 1, 0}, {2, "B", 2, 3, 1, 0}}, {{1, 2}}), 1,
              {0, 0});
  const Lookahead step = j.run();
  CHECK(step.step_time == 15);
  CHECK(step.computation_time == 15);
  CHECK(step.communication_time == 0);
  // A local dependency completes in a tick of its own that takes no time.
  CHECK(ticks(step) == Ticks{{1, 4}, {0, 0}, {1, 2}, {0, 0}, {1, 3}, {0, 0}, {1, 6}});
}

TEST_CASE("flows take their time between servers", "[lookahead]") {
  // Ops 0, 1 forward and 2, 3 backward; op 1 and its counterpart on server 1.
  Job j(testing::make_profile({{1, "A", 2, 1, 1, 0}, {2, "B", 3, 1, 1, 0}}, {{1, 2}}), 1, {0, 1});
  j.between(0, 1) = 0.5;
  j.between(3, 2) = 0.25;
  const Lookahead step = j.run();
  CHECK(step.step_time == 2 + 0.5 + 3 + 1 + 0.25 + 1);
  CHECK(step.computation_time == 7);
  CHECK(step.communication_time == 0.75);
  CHECK(ticks(step) == Ticks{{1, 2}, {0, 0.5}, {1, 3}, {0, 0}, {1, 1}, {0, 0.25}, {1, 1}});
}

TEST_CASE("a tick in which ops and flows progress counts for both", "[lookahead]") {
  // Op 1 (1) feeds op 3 on the other server while op 2 (4) still runs.
  Job j(testing::make_profile({forward(1, 1), forward(2, 4), forward(3, 1)}, {{1, 3}, {2, 3}}), 1,
        {0, 0, 1});
  j.between(0, 2) = 2;
  const Lookahead step = j.run();
  CHECK(step.step_time == 1 + 4 + 1);
  CHECK(step.communication_time == 2);
  CHECK(step.computation_time == 6);
}

TEST_CASE("a flow without bytes or on one server takes no time, whatever its run time",
          "[lookahead]") {
  Job local(testing::make_profile({forward(1, 1), forward(2, 1)}, {{1, 2}}), 1, {0, 0});
  local.between(0, 1) = 9;
  CHECK(local.run().step_time == 2);
  Job empty(testing::make_profile({{1, "A", 1, 0, 0, 0}, {2, "B", 1, 0, 0, 0}}, {{1, 2}}), 1,
            {0, 1});
  empty.between(0, 1) = 9;
  CHECK(empty.run().step_time == 2);
}

TEST_CASE("a server runs its shortest ready op", "[lookahead]") {
  // Sources 1 (3) and 2 (1) on server 0; op 2 feeds op 3 on server 1 by a flow of 2.
  Job j(testing::make_profile({forward(1, 3), forward(2, 1), forward(3, 1)}, {{2, 3}}), 1,
        {0, 0, 1});
  j.between(1, 2) = 2;
  // Op 2 first: its flow ends at 3, op 3 at 4, when op 1 ends as well.
  CHECK(j.run().step_time == 4);
}

TEST_CASE("of equally long ops the one placed later runs first", "[lookahead]") {
  // Sources 1 and 2 take 1 each on server 0. Only op 2's flow takes time.
  Job j(testing::make_profile({forward(1, 1), forward(2, 1), forward(3, 1), forward(4, 1)},
                              {{1, 3}, {2, 4}}),
        1, {0, 0, 1, 1});
  j.between(1, 3) = 5;
  CHECK(j.run().step_time == 1 + 5 + 1);  // 2 + 5 + 1 had op 1 been first
}

// Flows of 5 (ready at 1) and of 1 (ready at 5.5) share the channel from server 0 to server 1. They
// lead to ops of 2 and of 1.
Job two_flows_on_a_channel() {
  Job j(testing::make_profile({forward(1, 1), forward(2, 4.5), forward(3, 2), forward(4, 1)},
                              {{1, 3}, {2, 4}}),
        1, {0, 0, 1, 1});
  j.between(0, 2) = 5;
  j.between(1, 3) = 1;
  return j;
}

TEST_CASE("a channel's shortest flow sets the tick; a longer one with less left ends with it",
          "[lookahead]") {
  // At 5.5 the long flow has 0.5 left, but the short one wins the channel: both end at 6.5. Then
  // the ops of 1 and 2 take turns.
  CHECK(two_flows_on_a_channel().run().step_time == 6.5 + 1 + 2);
}

TEST_CASE("with exact ticks every flow ends on time, and a shorter op takes over the server",
          "[lookahead]") {
  // The op of 2 starts at 6, is interrupted from 6.5 to 7.5, and ends at 9.
  CHECK(two_flows_on_a_channel().run({.exact_tick = true}).step_time == 9);
}

TEST_CASE("a sibling's sync dependency can stand in for a parent, as published", "[lookahead]") {
  // Pieces: op 1 {0, 1}, its counterpart {2, 3}, op 2 {4, 5}, its counterpart {6, 7}. Everything
  // reaches piece 3 at 4.5; piece 2 misses its parent 7 until 14.5, but hears from its sibling at
  // 7.5 + 1.
  Job j(testing::make_profile({{1, "A", 4, 6, 10, 2}, {2, "B", 2, 3, 4, 4}}, {{1, 2}}), 2,
        {0, 1, 0, 1});
  j.between(7, 2) = 10;
  j.between(3, 2) = 1;
  CHECK(j.run().step_time == 14.5);  // the late flow; piece 2 ran from 8.5 to 11.5
  CHECK(j.run({.sync_is_no_parent = true}).step_time == 14.5 + 3);
}

TEST_CASE("a cut op without successors is stuck as published, and named", "[lookahead]") {
  const Job j(testing::make_profile(
                  {{1, "A", 1, 1, 1, 0}, {2, "Aside", 1, 2, 1, 0}, {3, "Loss", 1, 1, 1, 0}},
                  {{1, 2}, {1, 3}}, "branchy"),
              2, {0, 1, 0, 1, 0, 1});
  CHECK_THROWS_WITH(j.run(),
                    "model branchy at degree 2 never finishes a training step: an op without "
                    "successors was cut; the switch sync_is_no_parent (semantics: corrected) lets "
                    "it run");
  // Half of every op on each server: 0.5 + 0.5 + 0.5 forward, 1 + 0.5 + 0.5 backward.
  CHECK(j.run({.sync_is_no_parent = true}).step_time == 3.5);
}

TEST_CASE("what never arrives is named", "[lookahead]") {
  Job j(testing::make_profile({{1, "A", 4, 6, 10, 2}, {2, "B", 2, 3, 4, 4}}, {{1, 2}}, "endless"),
        2, {0, 1, 0, 1});
  j.between(7, 2) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(j.run({.sync_is_no_parent = true}),
                    "model endless at degree 2 never finishes a training step: what it sends takes "
                    "for ever at this bandwidth");
}

TEST_CASE("servers are named by the cluster, not by the job", "[lookahead]") {
  Job near(testing::make_profile({{1, "A", 2, 1, 1, 0}, {2, "B", 3, 1, 1, 0}}, {{1, 2}}), 1,
           {0, 1});
  Job far(testing::make_profile({{1, "A", 2, 1, 1, 0}, {2, "B", 3, 1, 1, 0}}, {{1, 2}}), 1, {3, 1});
  for (Job* j : {&near, &far}) j->between(0, 1) = 0.5;
  CHECK(near.run().step_time == far.run().step_time);
}

TEST_CASE("utilisation weighs the active ops of each tick", "[lookahead]") {
  Lookahead step;
  step.ticks = {{2, 3.0}, {0, 1.0}, {1, 6.0}};
  CHECK(step.utilisation(2, 10) == Approx(1.0 * 0.3 + 0.5 * 0.6));
  CHECK(step.utilisation(4, 10) == Approx(0.5 * 0.3 + 0.25 * 0.6));
  CHECK(step.utilisation(2, 500) == Approx((1.0 * 3 + 0.5 * 6) / 500));
  CHECK(step.utilisation(2, 10) == Approx(0.6));  // remembered per argument
}

}  // namespace
}  // namespace pacml::env
