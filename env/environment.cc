#include "env/environment.h"

#include <algorithm>

#include "common/check.h"

namespace pacml::env {

double EnvironmentSpec::metric(const EpisodeRecord& episode, std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricSpec::name);
  PACML_CHECK(found != metrics.end(), "the task has a metric of that name");
  return episode.metrics[static_cast<std::size_t>(found - metrics.begin())];
}

}  // namespace pacml::env
