#pragma once

#include <nlohmann/json_fwd.hpp>

namespace pacml::env {
class Cluster;
}

namespace pacml::apps {

// What happened in a cluster since its episode began, under the names of the published simulator: a
// list with a figure for each completed and each blocked job, the counts, and what was processed in
// all steps together. Pure.
[[nodiscard]] nlohmann::json episode_statistics(const env::Cluster& cluster);

}  // namespace pacml::apps
