#include "learner/train_batch.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::learner {
namespace {

// A message's observation columns.
struct ObservationColumns {
  std::span<const std::uint16_t> graph;
  std::span<const float> globals;
  std::span<const std::uint8_t> mask;
};

// Rows begin .. begin + rows - 1 of `from` become rows to .. of `out`.
void copy_rows(const ObservationColumns& from, std::size_t begin, std::size_t rows,
               std::span<const std::int32_t> graph_index, std::size_t to,
               env::ObservationBatch& out) {
  const std::size_t globals = out.num_globals();
  const std::size_t actions = out.num_actions();
  std::ranges::transform(from.graph.subspan(begin, rows),
                         out.mutable_graphs().begin() + static_cast<std::ptrdiff_t>(to),
                         [&](std::uint16_t graph) { return graph_index[graph]; });
  std::ranges::copy(from.globals.subspan(begin * globals, rows * globals),
                    out.mutable_globals().subspan(to * globals).begin());
  std::ranges::copy(from.mask.subspan(begin * actions, rows * actions),
                    out.mutable_masks().subspan(to * actions).begin());
}

}  // namespace

void assemble(std::span<const Unrolls* const> messages, const GraphRegistry& graphs,
              TrainBatch& batch) {
  PACML_CHECK(!messages.empty(), "a batch is made of at least one message");
  const auto globals = messages.front()->num_globals;
  const auto actions = messages.front()->num_actions;
  std::size_t decisions = 0;
  std::size_t rows = 0;
  for (const Unrolls* unrolls : messages) {
    PACML_CHECK(unrolls->num_globals == globals && unrolls->num_actions == actions,
                "messages of one batch have the same widths");
    decisions += unrolls->num_decisions();
    rows += unrolls->num_decisions() + unrolls->environments + unrolls->last_states.step.size();
  }
  if (batch.observations.num_globals() != globals || batch.observations.num_actions() != actions) {
    batch.observations =
        env::ObservationBatch(0, static_cast<int>(globals), static_cast<int>(actions));
  }
  batch.observations.resize(rows);
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
    const std::vector<std::int32_t> graph_index = graphs.indices(unrolls.graphs);
    const ObservationColumns columns{unrolls.graph, unrolls.globals, unrolls.mask};
    const ObservationColumns last{unrolls.last_states.graph, unrolls.last_states.globals,
                                  unrolls.last_states.mask};
    const std::size_t bootstrap = spare;
    const std::size_t truncated = bootstrap + streams;
    copy_rows(columns, 0, count, graph_index, first, batch.observations);
    copy_rows(columns, count, streams, graph_index, bootstrap, batch.observations);
    copy_rows(last, 0, last.graph.size(), graph_index, truncated, batch.observations);
    spare = truncated + last.graph.size();

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
    for (std::size_t n = 0; n < unrolls.last_states.step.size(); ++n) {
      batch.next_row[first + unrolls.last_states.step[n]] =
          static_cast<std::uint32_t>(truncated + n);
    }
  }
}

}  // namespace pacml::learner
