#include "apps/roles/message_sizes.h"

#include <algorithm>

#include "apps/run/most_nodes.h"
#include "common/experience/sequences.h"
#include "common/experience/transitions.h"
#include "common/wire/graph_hash.h"
#include "env/graph_message.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

constexpr auto kEpisodeBytes = static_cast<std::int64_t>(sizeof(EpisodeRecord));
constexpr std::int64_t kSmallest = std::int64_t{1} << 20;  // holds every message without columns

// Of a step of experience.
std::int64_t step_bytes(const env::Task& task) {
  const auto& spec = task.spec();
  // docs/protocol.md, "Experience". Every step may end an episode that is cut off there. Where
  // several agents take turns, each decision may be a sequence of its own.
  const auto state =
      static_cast<std::int64_t>(spec.observation.shape().row_bytes(most_nodes(spec)));
  const std::int64_t rows = spec.observation.agents > 1 ? 3 : 2;
  const std::int64_t searched = 4 * std::int64_t{spec.observation.candidates.most};
  return rows * state + 16 + 4 + 4 + 4 + 4 + 4 + 2 + 1 + searched + kEpisodeBytes;
}

std::int64_t transition_bytes(const env::Task& task) {
  const auto& spec = task.spec();
  const auto size = packed_bytes(spec.observation.shape(), most_nodes(spec));
  // Beside itself: key and probability, or priority; an episode that ended.
  return static_cast<std::int64_t>(size) + 16 + kEpisodeBytes;
}

// What a message of experience consists of, and how many more of it an unroll may come to than it
// has decisions.
struct Content {
  std::int64_t bytes = 0;
  std::int64_t beside = 0;
};

Content content_of(const TrainConfig& config, const env::Task& task) {
  if (!uses_replay(config.algorithm)) return {step_bytes(task), 1 + held_back(config)};
  // Windows that were open may all close in one message.
  return {transition_bytes(task),
          config.transitions.n_step * std::int64_t{task.spec().observation.agents}};
}

}  // namespace

std::int64_t largest_part(const TrainConfig& config, const env::Task& task) {
  const Content content = content_of(config, task);
  std::int64_t largest = kSmallest + config.actor.environments *
                                         (config.actor.unroll_length + content.beside) *
                                         content.bytes;
  if (uses_replay(config.algorithm)) {
    constexpr std::int64_t kEpisodes = 65'536;  // in an answer to a draw (docs/memory.md)
    largest = std::max(largest,
                       config.apex.batch_size * transition_bytes(task) + kEpisodeBytes * kEpisodes);
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

serving::MessageRoom room_for(const TrainConfig& config, const env::Task& task) {
  const Content content = content_of(config, task);
  const std::int64_t room = sockets_for(config, task).max_part_bytes - kSmallest;
  return {.steps = static_cast<std::uint64_t>(room / content.bytes),
          .beside = static_cast<std::uint64_t>(content.beside)};
}

}  // namespace pacml::apps
