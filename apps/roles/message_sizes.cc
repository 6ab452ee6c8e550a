#include "apps/roles/message_sizes.h"

#include <algorithm>

#include "apps/run/largest_messages.h"
#include "apps/run/most_nodes.h"
#include "common/wire/graph_hash.h"
#include "env/graph_message.h"
#include "model/layout.h"

namespace pacml::apps {
namespace {

constexpr std::int64_t kSmallest = std::int64_t{1} << 20;  // holds every message without columns

LargestMessages largest_of(const TrainConfig& config, const env::Task& task) {
  return largest_messages(config, task.spec().observation, most_nodes(task.spec()));
}

}  // namespace

std::int64_t largest_part(const TrainConfig& config, const env::Task& task) {
  const LargestMessages messages = largest_of(config, task);
  std::int64_t largest = std::max(messages.experience, messages.draw);
  for (const auto& graph : task.spec().graphs) {
    const auto message = env::to_message(*graph);
    largest = std::max(largest, static_cast<std::int64_t>(wire::bytes_of(message)));
  }
  const auto layout = model::make_layout(model::make_shape(config.network, task.spec()));
  largest = std::max(largest, static_cast<std::int64_t>(layout.total * sizeof(float)));
  return kSmallest + largest;
}

transport::SocketConfig sockets_for(const TrainConfig& config, const env::Task& task) {
  check_messages_fit(config, task);
  auto sockets = config.transport;
  sockets.max_part_bytes = std::max(sockets.max_part_bytes, largest_part(config, task));
  return sockets;
}

serving::MessageRoom room_for(const TrainConfig& config, const env::Task& task) {
  const LargestMessages messages = largest_of(config, task);
  const std::int64_t room = sockets_for(config, task).max_part_bytes - kSmallest;
  return {.steps = static_cast<std::uint64_t>(room / messages.step),
          .beside = static_cast<std::uint64_t>(messages.beside)};
}

}  // namespace pacml::apps
