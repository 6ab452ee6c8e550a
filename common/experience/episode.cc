#include "common/experience/episode.h"

#include <algorithm>
#include <cmath>

namespace pacml {

Result<void> validate(std::span<const EpisodeRecord> episodes) {
  const auto is_infinite = [](double metric) { return std::isinf(metric); };
  for (const EpisodeRecord& e : episodes) {
    if (!std::isfinite(e.episode_return) || e.decisions < 0 ||
        std::ranges::any_of(e.metrics, is_infinite)) {
      return fail(Errc::kCorruptFrame,
                  "an episode's record holds a negative count, or a number that is not finite");
    }
  }
  return {};
}

}  // namespace pacml
