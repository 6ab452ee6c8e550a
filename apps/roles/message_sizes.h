#pragma once

#include <cstdint>

#include "apps/run/train_config.h"
#include "common/serving/sessions.h"
#include "common/transport/socket_config.h"
#include "env/task.h"

namespace pacml::apps {

// An upper bound of the bytes of the largest part of any message of this run: experience, graphs,
// weights, drawn batches. Of experience as these settings make it: an actor with larger ones is
// granted as much as room_for() says.
[[nodiscard]] std::int64_t largest_part(const TrainConfig& config, const env::Task& task);

// The configuration's sockets, which take every message of this run. UserError:
// check_messages_fit().
[[nodiscard]] transport::SocketConfig sockets_for(const TrainConfig& config, const env::Task& task);

// How much experience the parts of such sockets hold; what these settings make always fits.
[[nodiscard]] serving::MessageRoom room_for(const TrainConfig& config, const env::Task& task);

}  // namespace pacml::apps
