#include "env/environment.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "env/text/file_hash.h"

namespace pacml::env {

void EnvironmentSpec::add_input(const std::string& setting, const std::string& file) {
  std::uint64_t& hash = inputs[setting];
  hash = file_hash(file, hash);
}

double EnvironmentSpec::metric(const EpisodeRecord& episode, std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricSpec::name);
  PACML_CHECK(found != metrics.end(), "the task has a metric of that name");
  return episode.metrics[static_cast<std::size_t>(found - metrics.begin())];
}

bool Environment::takes(int action) const {
  Observations seen = spec().make_observations();
  observe(seen);
  const auto mask = seen.mask(0);
  return action >= 0 && static_cast<std::size_t>(action) < mask.size() &&
         mask[static_cast<std::size_t>(action)] != 0;
}

std::unique_ptr<Environment> Environment::imagine(Seed future) const {
  auto copy = clone();
  return copy->resample_future(future) ? std::move(copy) : nullptr;
}

}  // namespace pacml::env
