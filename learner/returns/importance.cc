#include "learner/returns/importance.h"

#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {

void importance_weights(std::span<const double> probabilities, double least, double beta,
                        std::span<float> weights) {
  PACML_CHECK(weights.size() == probabilities.size(), "one weight per draw");
  PACML_CHECK(least > 0, "what was drawn had a chance to be");
  for (std::size_t n = 0; n < weights.size(); ++n) {
    weights[n] = static_cast<float>(std::pow(least / probabilities[n], beta));
  }
}

}  // namespace pacml::learner
