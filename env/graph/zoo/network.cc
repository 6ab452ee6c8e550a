#include "env/graph/zoo/network.h"

namespace pacml::env::zoo {

double num_elements(const Shape& shape) {
  double product = 1;
  for (const std::int64_t extent : shape) product *= static_cast<double>(extent);
  return product;
}

double Network::parameters() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.parameters;
  return sum;
}

double Network::multiply_adds() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.multiply_adds;
  return sum;
}

}  // namespace pacml::env::zoo
