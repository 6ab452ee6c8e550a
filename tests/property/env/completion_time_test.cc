#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/rng.h"
#include "env/graph/profile_library.h"
#include "env/ramp/execution_memo.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/profiles.h"

// What must hold of a training step's time whatever the graph, and the published figures.

namespace pacml::env {
namespace {

constexpr int kSteps = 50;
constexpr double kRounding = 1e-12;

// The profiles beside the source tree, where a machine has them.
std::string reference_profiles(const std::string& set) {
  const auto root = std::filesystem::absolute(testing::source_path("."));
  const auto folder = root.lexically_normal().parent_path().parent_path() / "shared/graphs" / set;
  return std::filesystem::is_directory(folder) ? folder.string() : std::string{};
}

std::vector<JobGraphPtr> graphs_of(const std::vector<Profile>& profiles) {
  std::vector<JobGraphPtr> graphs;
  for (const Profile& profile : profiles) graphs.push_back(testing::make_graph(profile));
  return graphs;
}

TEST_CASE("a step's time is bounded by its work and its flows", "[property][lookahead]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{seed});
    ExecutionMemo::Setting setting;
    setting.ramp.total_node_bandwidth = std::array{1.6e12, 3e9, 5e8}[rng.below(3)];
    setting.semantics.exact_tick = rng.below(2) == 1;
    ExecutionMemo memo({testing::make_graph(testing::random_profile(rng))}, setting);
    const int degree = std::array{1, 2, 4, 8}[rng.below(4)];
    const auto e = memo.place(0, degree, ServerSet(32));
    REQUIRE(e);
    const Lookahead& step = *memo.lookahead(*e);
    const auto& job = *e->job;
    const double work = job.total_compute();

    // Somebody always works or sends.
    CHECK(step.step_time <= (step.computation_time + step.communication_time) * (1 + kRounding));
    CHECK(step.step_time >= step.computation_time * (1 - kRounding));
    CHECK(step.step_time >= step.communication_time * (1 - kRounding));
    // While ops run at least one does, at most one a server.
    CHECK(step.computation_time <= work * (1 + kRounding));
    CHECK(step.computation_time >= work / e->num_servers * (1 - kRounding));
    CHECK(step.step_time >= *std::max_element(job.compute().begin(), job.compute().end()));

    // The ticks account for all of it.
    double time = 0;
    double op_time = 0;
    for (const auto& tick : step.ticks) {
      REQUIRE(tick.length >= 0);
      REQUIRE(tick.active_ops <= e->num_servers);
      time += tick.length;
      op_time += tick.length * tick.active_ops;
    }
    CHECK(time == step.step_time);
    CHECK(op_time == Approx(work).epsilon(1e-9));
  }
}

TEST_CASE("an uncut job on an empty cluster takes its sequential time and sends nothing",
          "[property][lookahead]") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Rng rng(Seed{500 + seed});
    ExecutionMemo memo({testing::make_graph(testing::random_profile(rng))}, {});
    const auto e = memo.place(0, 1, ServerSet(32));
    REQUIRE(e);
    CHECK(e->num_servers == 1);
    CHECK(memo.lookahead(*e)->step_time == Approx(e->job->total_compute()).epsilon(1e-12));
    CHECK(memo.lookahead(*e)->communication_time == 0);
  }
}

TEST_CASE("the built-in models get faster with every degree, never faster than work allows",
          "[property][lookahead]") {
  const auto profiles = load_profiles("", {});
  for (const bool corrected : {false, true}) {
    ExecutionMemo::Setting setting;
    if (corrected) setting.semantics = preset(Semantics::kCorrected);
    ExecutionMemo memo(graphs_of(profiles), setting);
    for (std::size_t model = 0; model < profiles.size(); ++model) {
      double last = std::numeric_limits<double>::infinity();
      for (const int degree : {1, 2, 4, 6, 8, 16}) {
        CAPTURE(profiles[model].model, degree, corrected);
        const auto e = memo.place(static_cast<int>(model), degree, ServerSet(32));
        REQUIRE(e);
        const double time = memo.lookahead(*e)->step_time;
        CHECK(time < last);
        CHECK(time >= e->job->total_compute() / e->num_servers * (1 - kRounding));
        last = time;
      }
    }
  }
}

TEST_CASE("the published completion times are reproduced, where the profiles are present",
          "[property][lookahead]") {
  const std::string folder = reference_profiles("paper");
  if (folder.empty()) {
    WARN("this test is skipped: this machine has no ../shared/graphs/paper");
    return;
  }
  // Degree 1, 2, 4, 6, 8, 16; empty 4x4x2 cluster, 50 training steps, milliseconds as seconds. The
  // published simulator breaks ties between equally long flows by chance, which gives alexnet at
  // degree 2 either 18031.040 or 18031.033; our rule gives the latter.
  const std::array<int, 6> degrees = {1, 2, 4, 6, 8, 16};
  const std::map<std::string, std::array<double, 6>> published = {
      {"alexnet", {36061.150, 18031.033, 9015.954, 6010.879, 4508.410, 2254.758}},
      {"gnmt", {4470.800, 2235.569, 1117.924, 745.358, 560.483, 308.391}},
      {"resnet18", {36668.350, 18336.335, 9170.043, 6114.393, 4586.861, 2295.819}},
      {"squeezenet1_0", {38000.150, 19002.776, 9503.329, 6336.607, 4753.547, 2379.197}},
      {"vgg16", {34525.350, 17267.730, 8638.718, 5761.844, 4324.162, 2168.236}}};
  const auto profiles = load_profiles(folder, {});
  REQUIRE(profiles.size() == published.size());
  ExecutionMemo memo(graphs_of(profiles), {});
  for (std::size_t model = 0; model < profiles.size(); ++model) {
    for (std::size_t d = 0; d < degrees.size(); ++d) {
      CAPTURE(profiles[model].model, degrees[d]);
      const auto e = memo.place(static_cast<int>(model), degrees[d], ServerSet(32));
      REQUIRE(e);
      const double expected = published.at(profiles[model].model)[d];
      CHECK(std::abs(memo.lookahead(*e)->step_time * kSteps - expected) <= 1e-3);
      if (degrees[d] == 16) CHECK(e->num_servers == (profiles[model].model == "gnmt" ? 21 : 16));
    }
  }
}

TEST_CASE("the corrected semantics run every reference profile cut in two, where present",
          "[property][lookahead]") {
  const std::string folder = reference_profiles("pipedream");
  if (folder.empty()) {
    WARN("this test is skipped: this machine has no ../shared/graphs/pipedream");
    return;
  }
  ExecutionMemo::Setting setting;
  setting.semantics = preset(Semantics::kCorrected);
  const auto profiles = load_profiles(folder, {});
  ExecutionMemo corrected(graphs_of(profiles), setting);
  ExecutionMemo published(graphs_of(profiles), {});
  std::vector<std::string> stuck;
  for (std::size_t model = 0; model < profiles.size(); ++model) {
    CAPTURE(profiles[model].model);
    const auto e = corrected.place(static_cast<int>(model), 2, ServerSet(32));
    REQUIRE(e);
    const double time = corrected.lookahead(*e)->step_time;
    const double work = e->job->total_compute();
    CHECK(time < 0.6 * work);
    CHECK(time >= work / e->num_servers * (1 - kRounding));
    try {
      static_cast<void>(
          published.lookahead(*published.place(static_cast<int>(model), 2, ServerSet(32))));
    } catch (const UserError&) {
      stuck.push_back(profiles[model].model);
    }
  }
  CHECK(stuck == std::vector<std::string>{"inception_v3", "nasnetalarge", "nasnetamobile"});
}

}  // namespace
}  // namespace pacml::env
