#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/experience/observations.h"
#include "common/rng.h"
#include "env/environment.h"
#include "tests/support/catch.h"

// What every environment promises (env/environment.h), as checks that a test runs on each of its
// configurations. Actions are drawn at random from the valid ones.
namespace pacml::testing {

using MakeEnvironment = std::function<std::unique_ptr<env::Environment>()>;

// One decision as a caller sees it.
struct SeenStep {
  std::vector<std::uint16_t> graphs;  // of each slot
  std::vector<float> node_features;   // of all slots
  std::vector<float> globals;
  std::vector<float> candidates;
  std::vector<std::uint8_t> mask;
  std::uint16_t shown_agent = 0;
  int agent = 0;
  int action = 0;
  env::StepResult result;
  std::vector<env::AgentReward> others;
  bool operator==(const SeenStep& o) const {
    return graphs == o.graphs && node_features == o.node_features && globals == o.globals &&
           candidates == o.candidates && mask == o.mask && shown_agent == o.shown_agent &&
           agent == o.agent && action == o.action && result.reward == o.result.reward &&
           result.terminated == o.result.terminated && result.truncated == o.result.truncated &&
           result.elapsed == o.result.elapsed && others == o.others;
  }
};

// A row of observations alone.
inline SeenStep seen(const Observations& batch) {
  REQUIRE(validate(batch));
  SeenStep step;
  for (std::size_t slot = 0; slot < batch.shape().slots.size(); ++slot) {
    step.graphs.push_back(batch.graph(0, slot));
    const auto features = batch.node_features(0, slot);
    step.node_features.insert(step.node_features.end(), features.begin(), features.end());
  }
  step.globals.assign(batch.globals(0).begin(), batch.globals(0).end());
  step.candidates.assign(batch.candidates(0).begin(), batch.candidates(0).end());
  step.mask.assign(batch.mask(0).begin(), batch.mask(0).end());
  step.shown_agent = batch.agent(0);
  return step;
}

inline SeenStep look(const env::Environment& environment) {
  Observations batch = environment.spec().make_observations();
  environment.observe(batch);
  return seen(batch);
}

// After a step that cut the episode.
inline SeenStep look_at_end(const env::Environment& environment, int agent) {
  Observations batch = environment.spec().make_observations();
  environment.observe_last(agent, batch);
  return seen(batch);
}

inline int random_valid_action(const std::vector<std::uint8_t>& mask, Rng& rng) {
  const auto valid = std::count(mask.begin(), mask.end(), std::uint8_t{1});
  auto skip = static_cast<std::ptrdiff_t>(rng.below(static_cast<std::uint64_t>(valid)));
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] == 1 && skip-- == 0) return static_cast<int>(a);
  }
  return -1;
}

inline SeenStep take_step(env::Environment& environment, Rng& rng) {
  SeenStep step = look(environment);
  step.agent = environment.agent();
  step.action = random_valid_action(step.mask, rng);
  step.result = environment.step(step.action);
  const auto others = environment.other_rewards();
  step.others.assign(others.begin(), others.end());
  return step;
}

// Plays on to the end of the episode, at most `most` steps.
inline std::vector<SeenStep> play(env::Environment& environment, Rng rng, int most = 100'000) {
  std::vector<SeenStep> steps;
  while (static_cast<int>(steps.size()) < most) {
    steps.push_back(take_step(environment, rng));
    if (steps.back().result.final()) break;
  }
  return steps;
}

inline std::vector<SeenStep> play_episode(env::Environment& environment, Seed seed) {
  environment.reset(seed);
  return play(environment, Rng(derive(seed, Purpose::kExploration, 0)));
}

inline bool is_of(const SlotSpec& slot, const env::GraphFeatures& graph) {
  return graph.node_width == static_cast<int>(slot.node_width) &&
         graph.edge_width == static_cast<int>(slot.edge_width);
}

inline void check_spec(const env::EnvironmentSpec& spec) {
  CHECK_FALSE(spec.task.empty());
  REQUIRE_FALSE(spec.metrics.empty());
  CHECK(spec.metrics.size() <= kMostMetrics);
  CHECK(spec.objective().better != env::Better::kNeither);
  std::set<std::string> names;
  for (const env::MetricSpec& metric : spec.metrics) CHECK(names.insert(metric.name).second);
  CHECK(spec.graph_names.size() == spec.graphs.size());
  CHECK(validate(spec.observation) == std::vector<std::string>{});
  REQUIRE_FALSE(spec.graphs.empty());
  for (const env::GraphFeaturesPtr& graph : spec.graphs) {
    REQUIRE(graph);
    CHECK(std::ranges::any_of(spec.observation.slots,
                              [&](const SlotSpec& slot) { return is_of(slot, *graph); }));
    CHECK(graph->node_features.size() ==
          static_cast<std::size_t>(graph->num_nodes) * static_cast<std::size_t>(graph->node_width));
    CHECK(graph->edge_features.size() ==
          static_cast<std::size_t>(graph->num_edges) * static_cast<std::size_t>(graph->edge_width));
    CHECK(graph->edge_src.size() == static_cast<std::size_t>(graph->num_edges));
    CHECK(graph->edge_dst.size() == static_cast<std::size_t>(graph->num_edges));
    const auto in_range = [&](std::int32_t node) { return node >= 0 && node < graph->num_nodes; };
    CHECK(std::all_of(graph->edge_src.begin(), graph->edge_src.end(), in_range));
    CHECK(std::all_of(graph->edge_dst.begin(), graph->edge_dst.end(), in_range));
    const auto finite = [](float f) { return std::isfinite(f); };
    CHECK(std::all_of(graph->node_features.begin(), graph->node_features.end(), finite));
    CHECK(std::all_of(graph->edge_features.begin(), graph->edge_features.end(), finite));
    CHECK(graph->hash == env::hash_features(*graph));
  }
}

// Two environments made alike have the same graphs in the same order.
inline void check_same_spec(const env::EnvironmentSpec& a, const env::EnvironmentSpec& b) {
  CHECK(a.observation == b.observation);
  REQUIRE(a.graphs.size() == b.graphs.size());
  for (std::size_t g = 0; g < a.graphs.size(); ++g) CHECK(a.graphs[g]->hash == b.graphs[g]->hash);
}

inline void check_observations(const env::EnvironmentSpec& spec,
                               const std::vector<SeenStep>& steps) {
  for (const SeenStep& step : steps) {
    std::size_t features = 0;
    for (std::size_t slot = 0; slot < step.graphs.size(); ++slot) {
      const SlotSpec& promised = spec.observation.slots[slot];
      REQUIRE(step.graphs[slot] < spec.graphs.size());
      const env::GraphFeatures& graph = *spec.graphs[step.graphs[slot]];
      REQUIRE(is_of(promised, graph));
      features += static_cast<std::size_t>(graph.num_nodes) * promised.dynamic_width;
    }
    REQUIRE(step.node_features.size() == features);
    REQUIRE(std::all_of(step.node_features.begin(), step.node_features.end(),
                        [](float f) { return std::isfinite(f); }));
    REQUIRE(std::all_of(step.globals.begin(), step.globals.end(),
                        [](float f) { return std::isfinite(f); }));
    REQUIRE(
        std::all_of(step.mask.begin(), step.mask.end(), [](std::uint8_t bit) { return bit <= 1; }));
    REQUIRE(std::count(step.mask.begin(), step.mask.end(), std::uint8_t{1}) > 0);
    const int agents = static_cast<int>(spec.observation.agents);
    REQUIRE((step.agent >= 0 && step.agent < agents));
    REQUIRE(step.shown_agent == step.agent);
    REQUIRE(std::isfinite(step.result.reward));
    REQUIRE((std::isfinite(step.result.elapsed) && step.result.elapsed > 0));
    for (const env::AgentReward& other : step.others) {
      REQUIRE((other.agent >= 0 && other.agent < agents));
      REQUIRE(std::isfinite(other.reward));
    }
    REQUIRE_FALSE((step.result.terminated && step.result.truncated));
  }
}

// A final step ends the episode, after a termination the last observation stays, and the summary
// adds up.
inline void check_end(env::Environment& environment, Seed seed) {
  const auto steps = play_episode(environment, seed);
  REQUIRE(steps.back().result.final());
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) REQUIRE_FALSE(steps[i].result.final());
  const SeenStep after = look(environment);
  if (steps.back().result.terminated) {
    CHECK(after.graphs == steps.back().graphs);
    CHECK(after.node_features == steps.back().node_features);
    CHECK(after.globals == steps.back().globals);
    CHECK(after.mask == steps.back().mask);
  } else {
    // As each agent sees it that decided in the episode.
    std::set<int> agents;
    for (const SeenStep& step : steps) agents.insert(step.agent);
    for (const int agent : agents) {
      SeenStep last = look_at_end(environment, agent);
      last.agent = agent;
      check_observations(environment.spec(), {last});
    }
  }

  const EpisodeRecord summary = environment.summary();
  CHECK(summary.decisions == static_cast<std::int64_t>(steps.size()));
  double total = 0;
  for (const SeenStep& step : steps) {
    total += step.result.reward;
    for (const env::AgentReward& other : step.others) total += other.reward;
  }
  CHECK(summary.episode_return == Approx(total).epsilon(1e-5));
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    CHECK_FALSE(std::isinf(summary.metrics[m]));
    if (m >= environment.spec().metrics.size()) CHECK(summary.metrics[m] == 0);
  }
}

// The same past with a future that is drawn anew: nothing that was observed changes, and what comes
// is a function of the new seed alone. Where nothing can be drawn, nothing changes.
inline void check_resampling(const MakeEnvironment& make, Seed seed, int past) {
  INFO("a future that is drawn anew");
  const auto original = make();
  original->reset(seed);
  static_cast<void>(play(*original, Rng(Seed{12}), past));
  // Another true future behind the same past: whoever draws anew cannot tell.
  const auto other_truth = original->clone();
  const auto redrawn = original->clone();
  const auto again = original->clone();
  const SeenStep now = look(*original);
  const bool drawn = redrawn->resample_future(Seed{21});
  CHECK(look(*redrawn) == now);
  CHECK(again->resample_future(Seed{21}) == drawn);
  const auto future = play(*redrawn, Rng(Seed{15}));
  CHECK(play(*again, Rng(Seed{15})) == future);
  CHECK(other_truth->resample_future(Seed{22}) == drawn);
  CHECK(other_truth->resample_future(Seed{21}) == drawn);
  CHECK(play(*other_truth, Rng(Seed{15})) == future);
  // Whoever looks ahead sees the same.
  const auto imagined = original->imagine(Seed{21});
  CHECK((imagined != nullptr) == drawn);
  if (imagined) {
    CHECK(look(*imagined) == now);
    CHECK(play(*imagined, Rng(Seed{15})) == future);
  }
  if (!drawn) CHECK(play(*original, Rng(Seed{15})) == future);
}

// Everything above and below, for environments that `make` gives. Those of one `make` may share
// what they like, as long as nobody can tell.
inline void check_environment_contract(const MakeEnvironment& make, Seed seed) {
  const auto first = make();
  check_spec(first->spec());
  const auto episode = play_episode(*first, seed);
  check_observations(first->spec(), episode);
  REQUIRE(episode.size() > 1);

  {
    INFO("the same seed and actions give the same episode, in a used and in another environment");
    CHECK(play_episode(*first, seed) == episode);
    const auto second = make();
    check_same_spec(first->spec(), second->spec());
    CHECK(play_episode(*second, seed) == episode);
  }
  {
    INFO("another seed gives another episode");
    CHECK(play_episode(*first, Seed{seed.get() + 1}) != episode);
  }
  check_end(*first, seed);
  {
    INFO("two environments in turn do not notice each other");
    const auto a = make();
    const auto b = make();
    a->reset(seed);
    b->reset(Seed{seed.get() + 2});
    Rng actions_of_a(derive(seed, Purpose::kExploration, 0));
    Rng actions_of_b(Seed{11});
    bool b_is_over = false;
    for (const SeenStep& expected : episode) {
      const SeenStep step = take_step(*a, actions_of_a);
      REQUIRE(step == expected);
      if (b_is_over) b->reset(seed);
      b_is_over = b->step(random_valid_action(look(*b).mask, actions_of_b)).final();
    }
  }
  {
    INFO("a clone goes on as its original does, and neither disturbs the other");
    first->reset(seed);
    static_cast<void>(play(*first, Rng(Seed{12}), static_cast<int>(episode.size() / 2)));
    const auto twin = first->clone();
    const auto other = first->clone();
    const SeenStep now = look(*first);
    const auto elsewhere = play(*other, Rng(Seed{13}));
    CHECK(look(*first) == now);
    CHECK(look(*twin) == now);
    const auto future = play(*first, Rng(Seed{14}));
    CHECK(play(*twin, Rng(Seed{14})) == future);
    CHECK(twin->summary().episode_return == first->summary().episode_return);
    // What a clone did cannot be told from what its original would have done.
    const auto again = make();
    again->reset(seed);
    static_cast<void>(play(*again, Rng(Seed{12}), static_cast<int>(episode.size() / 2)));
    CHECK(play(*again, Rng(Seed{13})) == elsewhere);
  }
  check_resampling(make, seed, static_cast<int>(episode.size() / 2));
}

}  // namespace pacml::testing
