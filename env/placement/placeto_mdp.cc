#include "env/placement/placeto_mdp.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/result.h"

namespace pacml::env {

std::vector<float> placeto_features(const PlacetoState& state) {
  const std::size_t nodes = state.attributes.size();
  const std::size_t width = placeto_width(state.num_devices, state.with_memory);
  constexpr std::size_t kStart = 4;
  constexpr std::size_t kMemory = 5;
  std::vector<float> rows(nodes * width, 0.0F);
  const auto current_start = static_cast<float>(state.start_us[state.current]);
  for (std::size_t i = 0; i < nodes; ++i) {
    float* row = &rows[i * width];
    row[0] = static_cast<float>(state.attributes[i].cost_us);
    row[1] = static_cast<float>(state.attributes[i].out_bytes);
    row[2] = static_cast<float>(state.visits[i]);
    row[3] = i == state.current ? 1.0F : 0.0F;
    row[kStart] = static_cast<float>(state.start_us[i]) - current_start;
    if (state.with_memory) row[kMemory] = static_cast<float>(state.attributes[i].memory_bytes);
    row[width - state.num_devices + static_cast<std::size_t>(state.device[i])] = 1.0F;
  }
  std::vector<std::size_t> scaled{0, 1, kStart};
  if (state.with_memory) scaled.push_back(kMemory);
  for (const std::size_t column : scaled) {
    const auto size = [&](std::size_t i) {
      const float x = rows[i * width + column];
      return state.signed_scale ? x : std::abs(x);
    };
    float top = size(0);
    for (std::size_t i = 1; i < nodes; ++i) top = std::max(top, size(i));
    if (top == 0) continue;
    for (std::size_t i = 0; i < nodes; ++i) rows[i * width + column] /= top;
  }
  return rows;
}

std::vector<int> nearest_parallel(const std::vector<int>& parallel,
                                  std::span<const double> start_us, std::size_t current, int most) {
  if (most == 0) return parallel;
  constexpr double kFar = 1e9;
  std::vector<double> distance(parallel.size());
  for (std::size_t i = 0; i < parallel.size(); ++i) {
    distance[i] = std::abs(start_us[i] - start_us[current]) + (parallel[i] != 0 ? 0 : kFar);
  }
  std::vector<std::size_t> nearest(parallel.size());
  std::iota(nearest.begin(), nearest.end(), 0);
  std::ranges::stable_sort(nearest, {}, [&](std::size_t i) { return distance[i]; });
  nearest.resize(std::min(nearest.size(), static_cast<std::size_t>(most)));
  std::vector<int> kept(parallel.size(), 0);
  for (const std::size_t i : nearest) kept[i] = distance[i] < kFar ? 1 : 0;
  return kept;
}

std::vector<double> placeto_returns(std::string_view kind, std::span<const double> runtimes,
                                    double discount) {
  const std::size_t steps = runtimes.size() - 1;
  std::vector<double> returns(steps);
  if (kind == "terminal") {
    std::ranges::fill(returns, -runtimes.back());
  } else if (kind == "best_later") {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = steps; i-- > 0;) {
      best = std::min(best, runtimes[i + 1]);
      returns[i] = runtimes[i] - best;
    }
  } else if (kind == "improvement") {
    double rest = 0;
    for (std::size_t i = steps; i-- > 0;) {
      rest = runtimes[i] - runtimes[i + 1] + discount * rest;
      returns[i] = rest;
    }
  } else {
    throw UserError("there is no kind of returns \"" + std::string(kind) +
                    "\"; there are improvement, best_later and terminal");
  }
  return returns;
}

}  // namespace pacml::env
