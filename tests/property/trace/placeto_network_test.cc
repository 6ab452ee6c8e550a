// The gradient of the published placement network against differences of what it computes.

#include "apps/trace/placeto_network.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/rng.h"
#include "tests/support/catch.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 7;
constexpr std::size_t kDevices = 2;

json stack(Rng& rng, const std::vector<std::size_t>& widths) {
  json layers = json::array();
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    json rows = json::array();
    for (std::size_t k = 0; k < widths[i]; ++k) {
      json row = json::array();
      for (std::size_t j = 0; j < widths[i + 1]; ++j) row.push_back(0.5 * rng.normal());
      rows.push_back(std::move(row));
    }
    json bias = json::array();
    for (std::size_t j = 0; j < widths[i + 1]; ++j) bias.push_back(0.1 * rng.normal());
    layers.push_back({std::move(rows), std::move(bias)});
  }
  return layers;
}

json random_weights(Rng& rng) {
  json weights;
  weights["node"] = stack(rng, {kWidth, kWidth, kWidth, kWidth});
  weights["head"] = stack(rng, {8 * kWidth, 16 * kWidth, 8 * kWidth, kDevices});
  for (const char* name : {"down_f", "down_g", "up_f", "up_g"}) {
    weights[name] = stack(rng, {kWidth, kWidth, kWidth});
  }
  for (const char* name : {"anc_f", "anc_g", "desc_f", "desc_g", "par_f", "par_g"}) {
    weights[name] = stack(rng, {2 * kWidth, 2 * kWidth, 2 * kWidth});
  }
  return weights;
}

TEST_CASE("the gradient is what the logits change by with each weight", "[property][trace]") {
  Rng rng(Seed{7});
  // 0 -> 1, 2; 1, 2 -> 3; 4 stands alone.
  const env::IndexLists children({{1, 2}, {3}, {3}, {}, {}});
  const env::IndexLists parents({{}, {0}, {0}, {1, 2}, {}});
  std::vector<float> features(5 * kWidth);
  for (float& f : features) f = static_cast<float>(rng.normal());
  const PlacetoNetwork::Decision decision{.features = features,
                                          .node = 1,
                                          .ancestors = {1, 0, 0, 0, 0},
                                          .descendants = {0, 0, 0, 1, 0},
                                          .parallel = {0, 0, 1, 0, 1}};
  PlacetoNetwork network(random_weights(rng), kWidth, kDevices, 3);
  const std::vector<double> by_logits{0.7, -1.3};
  const auto loss = [&] {
    const auto z = network.logits(decision, children, parents);
    return by_logits[0] * z[0] + by_logits[1] * z[1];
  };
  auto gradient = network.zeroes();
  network.add_gradient(decision, children, parents, by_logits, gradient);

  constexpr double kStep = 1e-6;
  int changed = 0;
  for (auto& [name, layers] : network.weights()) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (int draw = 0; draw < 12; ++draw) {
        const bool is_bias = draw % 3 == 0;
        auto& values = is_bias ? layers[i].bias : layers[i].matrix;
        const std::size_t k = rng.below(values.size());
        const double before = values[k];
        values[k] = before + kStep;
        const double above = loss();
        values[k] = before - kStep;
        const double slope = (above - loss()) / (2 * kStep);
        values[k] = before;
        const auto& found = gradient.at(name)[i];
        INFO(name << " layer " << i << (is_bias ? " bias " : " weight ") << k);
        CHECK((is_bias ? found.bias : found.matrix)[k] == Approx(slope).epsilon(1e-5).margin(1e-6));
        changed += slope != 0 ? 1 : 0;
      }
    }
  }
  CHECK(changed > 100);
}

TEST_CASE("a choice is a softmax of scores, with the published entropy", "[property][trace]") {
  const PlacetoChoice choice = placeto_choice(std::vector{1.0, 1.0 + std::log(3.0)}, 1);
  CHECK(choice.probabilities[0] == Approx(0.25));
  CHECK(choice.log_probability == Approx(std::log(0.75)));
  CHECK(choice.entropy == Approx(-0.25 * std::log(0.251) - 0.75 * std::log(0.751)));
}

}  // namespace
}  // namespace pacml::apps
