#include "model/action_distribution.h"

#include <array>
#include <cmath>
#include <vector>

#include "model/network_constants.h"
#include "tests/support/catch.h"

namespace pacml::model {
namespace {

TEST_CASE("the only valid action has log-probability 0 and is always drawn") {
  const std::array logits{kMaskedLogit, -3.0F, kMaskedLogit};
  Rng rng(Seed{1});
  for (int i = 0; i < 100; ++i) {
    const SampledAction drawn = sample_action(logits, rng);
    CHECK(drawn.action == 1);
    CHECK(drawn.log_probability == 0.0F);
  }
  CHECK(best_action(logits) == 1);
  CHECK(log_probability(logits, 1) == 0.0F);
  CHECK(entropy(logits) == 0.0F);
}

TEST_CASE("log-probabilities are those of the softmax over valid actions") {
  // exp: 1, 3 -> probabilities 1/4, 3/4
  const std::array logits{0.0F, kMaskedLogit, std::log(3.0F)};
  std::array<float, 3> out{};
  log_probabilities(logits, out);
  CHECK(out[0] == Approx(std::log(0.25)).epsilon(1e-6));
  CHECK(out[2] == Approx(std::log(0.75)).epsilon(1e-6));
  CHECK(log_probability(logits, 0) == out[0]);
  CHECK(std::isfinite(out[1]));
  CHECK(std::exp(out[1]) == 0.0F);
  CHECK(entropy(logits) == Approx(-0.25 * std::log(0.25) - 0.75 * std::log(0.75)).epsilon(1e-6));
}

TEST_CASE("equal logits have the entropy of the number of valid actions") {
  const std::vector<float> logits(7, 5.0F);
  CHECK(entropy(logits) == Approx(std::log(7.0)).epsilon(1e-6));
}

TEST_CASE("huge logits neither overflow nor give a NaN") {
  const std::array logits{1e30F, -1e8F, 1e30F, kMaskedLogit};
  CHECK(log_probability(logits, 0) == Approx(std::log(0.5)).epsilon(1e-6));
  CHECK(entropy(logits) == Approx(std::log(2.0)).epsilon(1e-6));
  Rng rng(Seed{2});
  const int drawn = sample_action(logits, rng).action;
  CHECK((drawn == 0 || drawn == 2));
}

TEST_CASE("the lowest of equally probable actions is the best") {
  CHECK(best_action(std::array{1.0F, 2.0F, 2.0F, 0.0F}) == 1);
  CHECK(best_action(std::array{kMaskedLogit, 0.0F, 0.0F}) == 1);
}

TEST_CASE("actions are drawn as often as they are probable") {
  const std::array logits{0.0F, kMaskedLogit, std::log(3.0F), std::log(4.0F)};
  constexpr int kDraws = 80'000;
  std::array<int, 4> counts{};
  Rng rng(Seed{3});
  for (int i = 0; i < kDraws; ++i) {
    const SampledAction drawn = sample_action(logits, rng);
    ++counts[static_cast<std::size_t>(drawn.action)];
    CHECK(drawn.log_probability == log_probability(logits, drawn.action));
  }
  // 10000, 0, 30000 and 40000 are expected; standard deviations are 94, 137 and 141.
  CHECK(std::abs(counts[0] - 10'000) < 500);
  CHECK(counts[1] == 0);
  CHECK(std::abs(counts[2] - 30'000) < 700);
  CHECK(std::abs(counts[3] - 40'000) < 700);
}

TEST_CASE("a draw takes one number of the generator") {
  Rng drawing(Seed{4});
  Rng counting(Seed{4});
  static_cast<void>(sample_action(std::array{0.0F, 1.0F, 2.0F}, drawing));
  static_cast<void>(counting.uniform());
  CHECK(drawing.state() == counting.state());
}

}  // namespace
}  // namespace pacml::model
