#include "env/tasks/placement_shaping/environment.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "env/tasks/ramp/cluster_view.h"

namespace pacml::env {

PlacementShapingEnv::PlacementShapingEnv(std::shared_ptr<const PlacementShapingTask> task,
                                         std::shared_ptr<RampMemos> memos)
    : RampEnvironment(task, std::move(memos)),
      task_(std::move(task)),
      rule_(make_degree_rule(task_->config().degree)),
      degree_mask_(static_cast<std::size_t>(task_->config().max_partitions_per_op) + 1) {}

PlacementShapingEnv::PlacementShapingEnv(const PlacementShapingEnv& other)
    : RampEnvironment(other),
      task_(other.task_),
      rule_(other.rule_->clone()),
      degree_mask_(other.degree_mask_),
      graph_(other.graph_),
      shown_(other.shown_),
      candidates_(other.candidates_) {}

void PlacementShapingEnv::job_waits(const Cluster& cluster) {
  graph_ = static_cast<std::uint16_t>(cluster.queued()->model);
  const RampCluster& shape = task_->clusters().front();
  shown_.look_at(cluster, recent(), {shape.slot, shape.slot, shape.graph});
  write_degree_mask(cluster, degree_mask_);
  candidates_.assign(1, {});
  if (task_->config().joint) {
    for (const int degree : task_->degrees()) {
      if (degree_mask_[static_cast<std::size_t>(degree)] == 0) continue;
      add_first_fit(cluster, degree, false);
      add_blocks(cluster, degree);
    }
  } else if (const int degree = rule_->choose(cluster, degree_mask_); degree > 0) {
    add_first_fit(cluster, degree, true);
    add_blocks(cluster, degree);
  }
}

void PlacementShapingEnv::add_first_fit(const Cluster& cluster, int degree, bool whatever_comes) {
  auto forecast = cluster.forecast({.degree = degree});
  if (!whatever_comes && forecast.cause != BlockCause::kNone) return;
  add({degree, 0, std::move(forecast.execution), forecast.completion_time});
}

void PlacementShapingEnv::add_blocks(const Cluster& cluster, int degree) {
  const auto blocks = task_->catalog()->blocks(graph_, degree);
  free_blocks_.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!cluster.occupied().overlaps(blocks[i])) free_blocks_.push_back(static_cast<int>(i) + 1);
  }
  const std::size_t most = static_cast<std::size_t>(task_->config().max_blocks);
  const std::size_t count = std::min(most, free_blocks_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const int number = free_blocks_[i * free_blocks_.size() / count];
    auto forecast = cluster.forecast({degree, &blocks[static_cast<std::size_t>(number) - 1]});
    if (forecast.cause != BlockCause::kNone) continue;
    add({degree, number, std::move(forecast.execution), forecast.completion_time});
  }
}

void PlacementShapingEnv::add(Candidate candidate) {
  const bool is_known =
      candidate.execution && std::ranges::any_of(candidates_, [&](const Candidate& other) {
        return other.degree == candidate.degree && other.execution == candidate.execution;
      });
  if (!is_known) candidates_.push_back(std::move(candidate));
}

JobDecision PlacementShapingEnv::decision_of(const Candidate& candidate) const {
  return {candidate.degree, task_->catalog()->block(graph_, candidate.degree, candidate.block)};
}

JobDecision PlacementShapingEnv::decision_of(int action) const {
  PACML_CHECK(static_cast<std::size_t>(action) < candidates_.size(), "no such candidate");
  return decision_of(candidates_[static_cast<std::size_t>(action)]);
}

void PlacementShapingEnv::observe(Observations& out) const {
  const ObservationRow row = out.append(
      {.candidates = static_cast<std::uint32_t>(candidates_.size()), .nodes = shown_.nodes()});
  PACML_CHECK(row.candidates.size() == 2 * candidates_.size(),
              "a store of another shape than the spec's");
  row.graph[kJobSlot] = graph_;
  shown_.write(row);
  for (std::size_t a = 0; a < candidates_.size(); ++a) {
    row.candidates[2 * a] = static_cast<float>(candidates_[a].degree);
    row.candidates[2 * a + 1] = static_cast<float>(candidates_[a].block);
    row.mask[a] = 1;
  }
}

std::unique_ptr<Environment> PlacementShapingEnv::clone() const {
  return std::make_unique<PlacementShapingEnv>(*this);
}

std::string PlacementShapingEnv::describe(int action) const {
  const Candidate& candidate = candidates_[static_cast<std::size_t>(action)];
  if (candidate.degree == 0) return "refuse the job";
  std::string text = "degree " + std::to_string(candidate.degree);
  if (candidate.block == 0) return text + " by first fit";
  text += " on servers";
  for (int s = 0; s < cluster().memo().topology().num_servers(); ++s) {
    if (candidate.execution->servers.contains(static_cast<Server>(s))) {
      text += " " + std::to_string(s);
    }
  }
  return text;
}

std::string PlacementShapingEnv::describe_kind(int action) const {
  const Candidate& candidate = candidates_[static_cast<std::size_t>(action)];
  if (candidate.degree == 0 || candidate.block == 0) return describe(action);
  return "degree " + std::to_string(candidate.degree) + " elsewhere";
}

}  // namespace pacml::env
