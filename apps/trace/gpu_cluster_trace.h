#pragma once

#include <nlohmann/json_fwd.hpp>

namespace pacml::apps {

// Replays a recorded schedule of jobs on a GPU cluster: a document of format "cluster-golden-1"
// (docs/gpu_cluster.md) in which decisions, rewards, ends and metrics are computed anew from
// `config` and `jobs` alone; or, where `take_decisions`, from them and from what was decided. Of
// the format's recordings of Gavel, the completion times. UserError names the part that is missing
// or makes no sense.
[[nodiscard]] nlohmann::json replay_gpu_cluster(const nlohmann::json& recorded,
                                                bool take_decisions);

}  // namespace pacml::apps
