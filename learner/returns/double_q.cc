#include "learner/returns/double_q.h"

#include "common/check.h"
#include "model/duelling.h"

namespace pacml::learner {

void double_q_targets(std::span<const float> returns, std::span<const float> discounts,
                      std::span<const float> online, std::span<const float> target,
                      std::size_t actions, std::span<float> out) {
  const std::size_t rows = out.size();
  PACML_CHECK(returns.size() == rows && discounts.size() == rows &&
                  online.size() == rows * actions && target.size() == rows * actions,
              "a return, a discount and action values for each target");
  for (std::size_t n = 0; n < rows; ++n) {
    out[n] = returns[n];
    if (discounts[n] == 0) continue;
    const int best = model::best_valid_action(online.subspan(n * actions, actions));
    out[n] += discounts[n] * target[n * actions + static_cast<std::size_t>(best)];
  }
}

}  // namespace pacml::learner
