#include "apps/roles/message_sizes.h"

#include <algorithm>

#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/wire/graph_hash.h"
#include "env/graph_message.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

constexpr auto kEpisodeBytes = static_cast<std::int64_t>(sizeof(EpisodeRecord));
constexpr std::int64_t kSmallest = std::int64_t{1} << 20;  // holds every message without columns

// Of the graphs that a task shows.
std::size_t most_nodes(const env::EnvironmentSpec& spec) {
  int most = 0;
  for (const auto& graph : spec.graphs) most = std::max(most, graph->num_nodes);
  return static_cast<std::size_t>(most);
}

std::int64_t bytes_of(const env::Task& task, std::int64_t steps, std::int64_t environments) {
  const auto& spec = task.spec();
  // docs/protocol.md, "Experience". Every step may end an episode that is cut off there. Where
  // several agents take turns, each decision may be a sequence of its own.
  const auto state =
      static_cast<std::int64_t>(spec.observation.shape().row_bytes(most_nodes(spec)));
  const std::int64_t rows = spec.observation.agents > 1 ? 3 : 2;
  const std::int64_t step = rows * state + 16 + 4 + 4 + 4 + 4 + 4 + 2 + 1 + kEpisodeBytes;
  return (steps + 1) * environments * step;
}

std::int64_t bytes_of_transitions(const env::Task& task, std::int64_t transitions) {
  const auto& spec = task.spec();
  const auto size = packed_bytes(spec.observation.shape(), most_nodes(spec));
  // Beside itself: key and probability, or priority; an episode that ended.
  return transitions * (static_cast<std::int64_t>(size) + 16 + kEpisodeBytes);
}

}  // namespace

std::int64_t largest_part(const TrainConfig& config, const env::Task& task) {
  const std::int64_t sent = config.actor.environments * config.actor.unroll_length;
  std::int64_t largest =
      kSmallest + bytes_of(task, config.actor.unroll_length, config.actor.environments);
  if (config.algorithm == AlgorithmKind::kApex) {
    constexpr std::int64_t kEpisodes = 65'536;  // in an answer to a draw (docs/memory.md)
    const std::int64_t drawn =
        bytes_of_transitions(task, config.apex.batch_size) + kEpisodeBytes * kEpisodes;
    // Windows that were open may all close in one message.
    const std::int64_t open = config.actor.environments * config.transitions.n_step *
                              std::int64_t{task.spec().observation.agents};
    largest = std::max({largest, drawn, kSmallest + bytes_of_transitions(task, sent + open)});
  }
  for (const auto& graph : task.spec().graphs) {
    const auto message = env::to_message(*graph);
    largest = std::max(largest, kSmallest + static_cast<std::int64_t>(wire::bytes_of(message)));
  }
  const auto layout = model::make_layout(model::make_shape(config.network, task.spec()));
  return std::max(largest, kSmallest + static_cast<std::int64_t>(layout.total * sizeof(float)));
}

transport::SocketConfig sockets_for(const TrainConfig& config, const env::Task& task) {
  auto sockets = config.transport;
  sockets.max_part_bytes = std::max(sockets.max_part_bytes, largest_part(config, task));
  return sockets;
}

}  // namespace pacml::apps
