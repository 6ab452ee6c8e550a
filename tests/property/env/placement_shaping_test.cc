#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/rng.h"
#include "env/tasks/partitioning/environment.h"
#include "env/tasks/placement_shaping/environment.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace pacml::env {
namespace {

template <class Config>
Config config_of(std::array<int, 3> topology, Semantics semantics) {
  Config c;
  c.profiles = testing::source_path("tests/golden/env/graphs").string();
  c.ramp.topology = topology;
  c.semantics = semantics;
  c.workload.replication_factor = 20;
  c.workload.interarrival.value = 40;
  c.cluster.max_simulation_time = 8000;
  return c;
}

void check_same_job(const JobOutcome& a, const JobOutcome& b) {
  REQUIRE(a.cause == b.cause);
  REQUIRE(a.mounted.has_value() == b.mounted.has_value());
  if (!a.mounted) return;
  REQUIRE(a.mounted->execution->placement == b.mounted->execution->placement);
  REQUIRE(a.mounted->completion_time == b.mounted->completion_time);
  REQUIRE(a.mounted->utilisation == b.mounted->utilisation);
}

TEST_CASE("with first fit, placement shaping is partitioning by the same rule",
          "[property][placement_shaping]") {
  const auto semantics = GENERATE(Semantics::kPaper, Semantics::kCorrected);
  const auto topology = GENERATE(std::array{4, 4, 2}, std::array{3, 3, 3}, std::array{2, 2, 2});
  const std::string rule = GENERATE("random", "para_max", "min_feasible", "para_min", "constant:4");
  INFO("rule " << rule);
  const auto partitioning =
      std::make_shared<const PartitioningTask>(config_of<PartitioningConfig>(topology, semantics));
  auto config = config_of<PlacementShapingConfig>(topology, semantics);
  config.degree = rule;
  const auto shaping = std::make_shared<const PlacementShapingTask>(config);
  PartitioningEnv expected(partitioning);
  PlacementShapingEnv actual(shaping);
  const auto chooser = partitioning->make_agent(rule);
  const auto first_fit = shaping->make_agent("first_fit");
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    INFO("seed " << seed);
    for (RampEnvironment* environment :
         {static_cast<RampEnvironment*>(&expected), static_cast<RampEnvironment*>(&actual)}) {
      environment->reset(Seed{seed});
    }
    chooser->reset(derive(Seed{seed}, Purpose::kDegree, 0));
    first_fit->reset(Seed{seed});
    for (bool final = false; !final;) {
      const StepResult a = expected.step(chooser->act(expected));
      const StepResult b = actual.step(first_fit->act(actual));
      REQUIRE(a.reward == b.reward);
      REQUIRE(a.final() == b.final());
      REQUIRE(expected.last_job().index == actual.last_job().index);
      check_same_job(expected.last_outcome(), actual.last_outcome());
      REQUIRE(expected.last_stats().info == actual.last_stats().info);
      REQUIRE(expected.cluster().now() == actual.cluster().now());
      final = a.final();
    }
    REQUIRE(expected.summary().metrics[0] == actual.summary().metrics[0]);
  }
}

// Where every op of the job is, as a set.
std::vector<Server> servers_of(const Execution& execution) {
  std::vector<Server> servers(execution.placement.begin(), execution.placement.end());
  std::ranges::sort(servers);
  servers.erase(std::ranges::unique(servers).begin(), servers.end());
  return servers;
}

TEST_CASE("a candidate is what a step makes of it, and candidates differ",
          "[property][placement_shaping]") {
  const bool joint = GENERATE(false, true);
  const auto topology = GENERATE(std::array{4, 4, 2}, std::array{3, 3, 3});
  auto config = config_of<PlacementShapingConfig>(topology, Semantics::kPaper);
  config.joint = joint;
  config.degree = "random";
  const auto task = std::make_shared<const PlacementShapingTask>(config);
  PlacementShapingEnv environment(task);
  Rng rng(Seed{5});
  std::size_t blocks = 0;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    environment.reset(Seed{seed});
    for (bool final = false; !final;) {
      const auto candidates = environment.candidates();
      REQUIRE(candidates[0].degree == 0);
      for (std::size_t a = 1; a < candidates.size(); ++a) {
        const auto& candidate = candidates[a];
        PlacementShapingEnv twin = environment;
        static_cast<void>(twin.step(static_cast<int>(a)));
        const JobOutcome& outcome = twin.last_outcome();
        const bool may_fail = !joint && a == 1;  // RAMP's own first fit, whatever comes of it
        if (outcome.cause != BlockCause::kNone) {
          REQUIRE(may_fail);
          continue;
        }
        REQUIRE(outcome.mounted->execution->job->degree() <= candidate.degree);
        REQUIRE(outcome.mounted->execution->placement == candidate.execution->placement);
        REQUIRE(outcome.mounted->completion_time == candidate.completion_time);
        if (candidate.block > 0) {
          ++blocks;
          const ServerSet& block =
              *task->catalog()->block(twin.last_job().model, candidate.degree, candidate.block);
          REQUIRE_FALSE(environment.cluster().occupied().overlaps(block));
          for (const Server s : servers_of(*candidate.execution)) REQUIRE(block.contains(s));
        }
        for (std::size_t other = 1; other < a; ++other) {
          if (candidates[other].degree != candidate.degree || !candidates[other].execution)
            continue;
          REQUIRE(candidates[other].execution->placement != candidate.execution->placement);
        }
      }
      final = environment.step(static_cast<int>(rng.below(candidates.size()))).final();
    }
  }
  REQUIRE(blocks > 100);
}

TEST_CASE("a network reads of a placement the cluster that it leaves behind",
          "[property][placement_shaping]") {
  auto config = config_of<PlacementShapingConfig>({4, 4, 2}, Semantics::kPaper);
  config.joint = true;
  const auto task = std::make_shared<const PlacementShapingTask>(config);
  const EnvironmentSpec& spec = task->spec();
  const auto reader = spec.candidate_view->make_reader();
  reader->set_graphs(spec.graphs);
  const auto features = spec.candidate_view->features();
  const auto column = [&](const std::string& name) {
    const auto found = std::ranges::find(features, name, &FeatureSpec::name);
    REQUIRE(found != features.end());
    return static_cast<std::size_t>(found - features.begin());
  };
  PlacementShapingEnv environment(task);
  environment.reset(Seed{3});
  Rng rng(Seed{6});
  Observations batch = spec.make_observations();
  std::vector<float> rows(static_cast<std::size_t>(spec.num_actions()) * features.size());
  std::vector<float> situation(features.size());
  for (int step = 0; step < 60; ++step) {
    batch.clear();
    environment.observe(batch);
    const auto candidates = environment.candidates();
    REQUIRE(reader->read(batch, 0, rows.data(), features.size(), situation.data()) ==
            candidates.size());
    for (std::size_t a = 1; a < candidates.size(); ++a) {
      const float* row = rows.data() + a * features.size();
      const Execution& execution = *candidates[a].execution;
      REQUIRE(row[column("servers_taken")] ==
              Approx(static_cast<double>(execution.num_servers) / 32));
      const double slots = candidates[a].completion_time / config.workload.interarrival.value;
      REQUIRE(row[column("busy_for")] == Approx(std::min(slots / 20, 1.0)).epsilon(1e-5));
      for (int s = 0; s < 32; ++s) {
        if (!execution.servers.contains(static_cast<Server>(s))) continue;
        REQUIRE(row[column("server_" + std::to_string(s) + "_busy_of_20")] ==
                Approx(std::clamp((slots - 1) / 20, 0.0, 1.0)).margin(1e-5));
      }
    }
    if (environment.step(static_cast<int>(rng.below(candidates.size()))).final()) break;
  }
  INFO("whatever a peer says of a candidate can be read");
  for (int trial = 0; trial < 200; ++trial) {
    for (float& number : batch.row(0).candidates) {
      number = static_cast<float>(rng.normal() * std::pow(10.0, rng.uniform() * 30 - 2));
    }
    static_cast<void>(reader->read(batch, 0, rows.data(), features.size(), situation.data()));
    const std::size_t read = batch.num_candidates(0) * features.size();
    REQUIRE(std::all_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(read),
                        [](float x) { return std::isfinite(x); }));
  }
}

}  // namespace
}  // namespace pacml::env
