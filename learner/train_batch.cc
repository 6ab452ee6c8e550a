#include "learner/train_batch.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::learner {

void assemble(std::span<const Unrolls* const> messages, const GraphRegistry& graphs,
              TrainBatch& batch) {
  PACML_CHECK(!messages.empty(), "a batch is made of at least one message");
  const ObservationShape& shape = messages.front()->observations.shape();
  std::size_t decisions = 0;
  std::size_t rows = 0;
  for (const Unrolls* unrolls : messages) {
    decisions += unrolls->num_decisions();
    rows += unrolls->observations.size();
  }
  Observations& observations = batch.observations;
  if (observations.shape() != shape) observations = Observations(shape);
  observations.clear();
  observations.reserve(rows);
  batch.blocks.clear();
  batch.actions.clear();
  batch.behaviour_log_probs.clear();
  batch.rewards.clear();
  batch.terminated.clear();
  batch.ends.clear();
  batch.next_row.clear();
  batch.policy_versions.clear();

  std::size_t spare = decisions;  // the next row behind the decisions
  for (const Unrolls* message : messages) {
    const Unrolls& unrolls = *message;
    const std::size_t first = batch.decisions();
    const std::size_t streams = unrolls.environments;
    const std::size_t count = unrolls.num_decisions();
    observations.append_rows(unrolls.observations, 0, count,
                             graphs.indices(unrolls.observations.graphs()));
    // What follows a message's decisions comes behind all decisions.
    const std::size_t bootstrap = spare;
    const std::size_t truncated = bootstrap + streams;
    spare = truncated + unrolls.cut.size();

    batch.blocks.push_back({first, unrolls.steps, streams});
    batch.actions.insert(batch.actions.end(), unrolls.action.begin(), unrolls.action.end());
    batch.behaviour_log_probs.insert(batch.behaviour_log_probs.end(),
                                     unrolls.behaviour_log_prob.begin(),
                                     unrolls.behaviour_log_prob.end());
    batch.rewards.insert(batch.rewards.end(), unrolls.reward.begin(), unrolls.reward.end());
    for (std::size_t i = 0; i < count; ++i) {
      const bool terminated = (unrolls.flags[i] & Unrolls::kTerminated) != 0;
      batch.terminated.push_back(terminated ? 1 : 0);
      batch.ends.push_back(unrolls.flags[i] != 0 ? 1 : 0);
      std::size_t next =
          i + streams < count ? first + i + streams : bootstrap + i + streams - count;
      if (terminated) next = first + i;
      batch.next_row.push_back(static_cast<std::uint32_t>(next));
      batch.policy_versions.push_back(unrolls.policy_version[i / streams]);
    }
    for (std::size_t n = 0; n < unrolls.cut.size(); ++n) {
      batch.next_row[first + unrolls.cut[n]] = static_cast<std::uint32_t>(truncated + n);
    }
  }
  for (const Unrolls* unrolls : messages) {
    const std::size_t count = unrolls->num_decisions();
    observations.append_rows(unrolls->observations, count, unrolls->observations.size() - count,
                             graphs.indices(unrolls->observations.graphs()));
  }
}

std::vector<float> fresh_decisions(const TrainBatch& batch, PolicyVersion now,
                                   std::int64_t max_lag) {
  std::vector<float> fresh(batch.decisions());
  std::ranges::transform(batch.policy_versions, fresh.begin(), [&](PolicyVersion version) {
    const bool stale =
        now > version && now.get() - version.get() > static_cast<std::uint64_t>(max_lag);
    return stale ? 0.0F : 1.0F;
  });
  return fresh;
}

}  // namespace pacml::learner
