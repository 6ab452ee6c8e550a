#include "env/ramp/execution_memo.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"
#include "tests/support/profiles.h"

namespace pacml::env {
namespace {

ForwardOp op(int id, double time, double memory = 1e9) {
  return {id, "Op", time, 2 * time, memory, 0};
}

// Two models: a chain of four, and one op so short that it is never cut into more than two pieces.
std::vector<JobGraphPtr> graphs() {
  return {testing::make_graph(testing::make_profile({op(1, 3), op(2, 1), op(3, 0), op(4, 2)},
                                                    {{1, 2}, {2, 3}, {3, 4}}, "chain")),
          testing::make_graph(testing::single_op(0.015, 1, 1e9, 0, "short"))};
}

ExecutionMemo::Setting small_setting() {
  ExecutionMemo::Setting setting;
  setting.ramp.topology = {2, 2, 2};
  setting.ramp.total_node_bandwidth = 25e9;
  setting.max_degree = 8;
  return setting;
}

ServerSet servers(const std::vector<Server>& members) {
  ServerSet set(8);
  for (const Server s : members) set.insert(s);
  return set;
}

TEST_CASE("what is remembered is what would be computed", "[memo]") {
  const auto setting = small_setting();
  ExecutionMemo memo(graphs(), setting);
  Rng rng(Seed{5});
  for (int i = 0; i < 400; ++i) {
    const int graph = static_cast<int>(rng.below(2));
    const int degree = rng.below(4) == 0 ? 1 : 2 * static_cast<int>(1 + rng.below(4));
    ServerSet occupied(8);
    for (Server s = 0; s < 8; ++s) {
      if (rng.below(3) == 0) occupied.insert(s);
    }
    CAPTURE(i, graph, degree);
    const auto found = memo.place(graph, degree, occupied);
    const PartitionedGraph job(memo.graphs()[static_cast<std::size_t>(graph)], degree,
                               setting.op_quantum, setting.time_scale, DependencyBytes::kMemory);
    const auto fresh =
        place_first_fit(job, memo.topology(), setting.ramp.worker_memory, occupied, false);
    REQUIRE((found != nullptr) == fresh.has_value());
    if (!found) continue;
    REQUIRE(found->placement == *fresh);
    const auto server = server_of_ops(job, *fresh);
    const auto raw = raw_run_times(job, server, memo.topology(), memo.communication());
    const auto step = simulate_step(job, *fresh, server, raw, 8, setting.semantics);
    REQUIRE(memo.lookahead(*found)->step_time == step.step_time);
    REQUIRE(memo.lookahead(*found)->communication_time == step.communication_time);
    REQUIRE(memo.lookahead(*found)->ticks.size() == step.ticks.size());
  }
  CHECK(memo.counters().placements == 400);
  CHECK(memo.counters().placement_hits > 0);
  CHECK(memo.counters().lookaheads < 100);
}

// All of `lookahead` is what is simulated where the job is, rather than in its standard form.
void check_simulated_in_place(ExecutionMemo& memo, const Execution& execution) {
  const auto server = server_of_ops(*execution.job, execution.placement);
  const auto raw = raw_run_times(*execution.job, server, memo.topology(), memo.communication());
  const auto step = simulate_step(*execution.job, execution.placement, server, raw,
                                  memo.topology().num_servers(), memo.setting().semantics);
  const Lookahead& found = *memo.lookahead(execution);
  REQUIRE(found.step_time == step.step_time);
  REQUIRE(found.communication_time == step.communication_time);
  REQUIRE(found.computation_time == step.computation_time);
  REQUIRE(std::ranges::equal(found.ticks, step.ticks, [](const auto& a, const auto& b) {
    return a.length == b.length && a.active_ops == b.active_ops;
  }));
  double flow_bytes = 0;
  std::set<std::pair<Server, Server>> channels;
  for (std::size_t d = 0; d < execution.job->bytes().size(); ++d) {
    if (!is_flow(*execution.job, server, d)) continue;
    flow_bytes += execution.job->bytes()[d];
    channels.emplace(server[static_cast<std::size_t>(execution.job->src()[d])],
                     server[static_cast<std::size_t>(execution.job->dst()[d])]);
  }
  REQUIRE(execution.flow_bytes == flow_bytes);
  REQUIRE(execution.num_channels == static_cast<int>(channels.size()));
  const std::set<Server> used(server.begin(), server.end());
  REQUIRE(execution.num_servers == static_cast<int>(used.size()));
  for (const Server s : used) REQUIRE(execution.servers.contains(s));
}

TEST_CASE("wherever a job is put, its step is that of the standard form", "[memo]") {
  ExecutionMemo::Setting setting;
  setting.ramp.topology = {4, 3, 5};
  setting.ramp.total_node_bandwidth = 25e9;
  setting.max_degree = 12;
  const bool corrected = GENERATE(false, true);
  if (corrected) setting.semantics = preset(Semantics::kCorrected);
  ExecutionMemo memo(
      {testing::make_graph(testing::make_profile({op(1, 3), op(2, 1), op(3, 0.03), op(4, 2)},
                                                 {{1, 2}, {1, 3}, {2, 4}, {3, 4}}, "diamond"))},
      setting);
  const int num_servers = memo.topology().num_servers();
  Rng rng(Seed{6});
  int placed = 0;
  std::set<const StandardExecution*> forms;
  for (int i = 0; i < 600; ++i) {
    const int degree = rng.below(4) == 0 ? 1 : 2 * static_cast<int>(1 + rng.below(6));
    ServerSet occupied(num_servers);
    for (int s = 0; s < num_servers; ++s) {
      if (rng.below(4) != 0 && rng.below(3) != 0) occupied.insert(static_cast<Server>(s));
    }
    CAPTURE(i, degree);
    const auto found = memo.place(0, degree, occupied);
    if (!found) continue;
    ++placed;
    forms.insert(found->standard.get());
    check_simulated_in_place(memo, *found);
  }
  CHECK(placed > 100);
  CHECK(forms.size() < static_cast<std::size_t>(placed) / 4);
  CHECK(memo.counters().lookaheads < forms.size());  // some of which take equally long
}

TEST_CASE("an execution knows its servers, channels and flows", "[memo]") {
  ExecutionMemo memo(graphs(), small_setting());
  // Op of 0.015 in two pieces on {0, 4}, its counterpart there too. The pieces depend on each
  // other's counterparts (0.5e9 / 2 each way) and the siblings exchange 0.5e9.
  const auto e = memo.place(1, 2, servers({}));
  REQUIRE(e);
  CHECK(e->placement == Placement{0, 4});
  CHECK(e->servers == servers({0, 4}));
  CHECK(e->num_servers == 2);
  CHECK(e->num_channels == 2);
  CHECK(e->flow_bytes == 2 * 0.25e9 + 2 * 0.5e9);
  CHECK(e->fits_memory);

  const auto alone = memo.place(0, 1, servers({0}));
  REQUIRE(alone);
  CHECK(alone->servers == servers({1}));
  CHECK(alone->num_channels == 0);
  CHECK(alone->flow_bytes == 0);
}

TEST_CASE("memory counts both passes, beyond what placement reserved", "[memo]") {
  auto setting = small_setting();
  setting.ramp.worker_memory = 1.5e9;  // one pass of the short model takes 1e9
  ExecutionMemo memo(graphs(), setting);
  const auto whole = memo.place(1, 1, servers({}));
  REQUIRE(whole);
  CHECK_FALSE(whole->fits_memory);
  CHECK(memo.place(1, 2, servers({}))->fits_memory);
}

TEST_CASE("memory counts what an optimiser keeps, spread over the pieces of its op", "[memo]") {
  auto setting = small_setting();
  setting.ramp.worker_memory = 2.5e9;  // both passes of the short model take 2e9
  auto profile = testing::single_op(0.015, 1, 1e9, 0, "short");
  const auto fits = [&](double optimizer_bytes, int degree, bool full_check) {
    profile.ops[0].optimizer_bytes = optimizer_bytes;
    setting.semantics.full_memory_check = full_check;
    ExecutionMemo memo({testing::make_graph(profile)}, setting);
    const auto execution = memo.place(0, degree, servers({}));
    return execution && execution->fits_memory;
  };
  for (const bool full_check : {false, true}) {
    CHECK(fits(0, 1, full_check));
    CHECK(fits(0.5e9, 1, full_check));
    CHECK_FALSE(fits(0.6e9, 1, full_check));
    CHECK(fits(2.9e9, 2, full_check));
    CHECK_FALSE(fits(3.1e9, 2, full_check));
  }
}

TEST_CASE("an optimiser's memory is never sent", "[memo]") {
  auto profile = testing::single_op(0.015, 1, 1e9, 0, "short");
  const auto bytes = [&] {
    ExecutionMemo memo({testing::make_graph(profile)}, small_setting());
    return memo.place(0, 2, servers({}))->flow_bytes;
  };
  const double without = bytes();
  profile.ops[0].optimizer_bytes = 1e9;
  CHECK(bytes() == without);
}

TEST_CASE("a degree that no op reaches is the degree that is reached", "[memo]") {
  ExecutionMemo memo(graphs(), small_setting());
  CHECK(memo.partition(1, 8) == memo.partition(1, 2));
  CHECK(memo.partition(1, 8)->degree() == 2);
  CHECK(memo.partition(0, 8) != memo.partition(0, 2));
  CHECK(memo.place(1, 8, servers({})) == memo.place(1, 2, servers({})));
}

TEST_CASE("jobs that are placed alike share one execution and one lookahead", "[memo]") {
  ExecutionMemo memo(graphs(), small_setting());
  const auto a = memo.place(0, 2, servers({}));
  const auto b = memo.place(0, 2, servers({7}));
  CHECK(a == b);
  CHECK(memo.counters().placement_hits == 1);  // the first block is the same
  CHECK(memo.place(0, 2, servers({7})) == a);
  CHECK(memo.counters().placement_hits == 2);
  CHECK(memo.lookahead(*a) == memo.lookahead(*b));
  CHECK(memo.counters().lookaheads == 1);
  CHECK(memo.place(0, 2, servers({0})) != a);
}

TEST_CASE("that a job has no place is known without a search", "[memo]") {
  ExecutionMemo memo(graphs(), small_setting());
  const auto full = servers({0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(memo.place(0, 1, full) == nullptr);
  CHECK(memo.place(0, 1, full) == nullptr);
  CHECK(memo.counters().placement_hits == 2);
}

TEST_CASE("where memory may decide, placements are remembered by who is occupied", "[memo]") {
  auto setting = small_setting();
  setting.ramp.worker_memory = 1.5e9;
  ExecutionMemo memo(graphs(), setting);
  REQUIRE_FALSE(sizes_where_memory_is_no_matter(*memo.partition(1, 1), 1.5e9));
  const auto a = memo.place(1, 1, servers({}));
  const auto b = memo.place(1, 1, servers({7}));
  CHECK(a == b);
  CHECK(memo.counters().placement_hits == 0);
  CHECK(memo.place(1, 1, servers({7})) == a);
  CHECK(memo.counters().placement_hits == 1);
}

TEST_CASE("what is remembered stays within its bound, and answers do not change", "[memo]") {
  auto setting = small_setting();
  setting.max_bytes = 4096;
  constexpr std::size_t kAnswerBytes = 2048;
  ExecutionMemo bounded(graphs(), setting);
  ExecutionMemo unbounded(graphs(), small_setting());
  Rng rng(Seed{9});
  std::vector<ExecutionPtr> held;
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    ServerSet occupied(8);
    for (Server s = 0; s < 8; ++s) {
      if (rng.below(2) == 0) occupied.insert(s);
    }
    const int degree = 2 * static_cast<int>(1 + rng.below(2));
    bounded.forget_when_full();
    const auto a = bounded.place(0, degree, occupied);
    const auto b = unbounded.place(0, degree, occupied);
    REQUIRE((a != nullptr) == (b != nullptr));
    // What exceeds the bound goes before the next answer is added.
    REQUIRE(bounded.counters().bytes <= setting.max_bytes + kAnswerBytes);
    if (!a) continue;
    REQUIRE(a->placement == b->placement);
    REQUIRE(bounded.lookahead(*a)->step_time == unbounded.lookahead(*b)->step_time);
    held.push_back(a);
    times.push_back(bounded.lookahead(*a)->step_time);
  }
  CHECK(bounded.counters().lookaheads > unbounded.counters().lookaheads);  // it did forget
  for (std::size_t i = 0; i < held.size(); ++i)
    REQUIRE(held[i]->standard->lookahead->step_time == times[i]);
}

TEST_CASE("the setting decides how a job is cut, placed and timed", "[memo]") {
  const auto step_time = [](auto change) {
    auto setting = small_setting();
    change(setting);
    ExecutionMemo memo(graphs(), setting);
    const auto e = memo.place(0, 2, servers({}));
    return memo.lookahead(*e)->step_time;
  };
  const double published = step_time([](auto&) {});
  CHECK(step_time([](auto& s) { s.semantics.collective_bandwidth_once = true; }) < published);
  CHECK(step_time([](auto& s) { s.semantics.rack_contention = true; }) == published);
  // Communication does not shrink with the profile's times.
  CHECK(step_time([](auto& s) { s.time_scale = 1e-3; }) > published * 1e-3);
}

}  // namespace
}  // namespace pacml::env
