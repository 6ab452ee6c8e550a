#include "env/gpu_cluster/interference_fit.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace pacml::env {
namespace {

const std::vector<std::string> kTypes = {"lm-b10",     "lm-b20",     "lm-b40",  "resnet-b16",
                                         "resnet-b64", "resnet-b32", "solo-bx", "tiny"};

// Pairs whose z is of a form: alpha of the one, beta of the other, and how their batches go
// together.
std::vector<MeasuredPair> planted(double together) {
  const JobTypeFeatures features(kTypes);
  const std::size_t families = features.num_families();
  std::vector<MeasuredPair> pairs;
  for (std::size_t a = 0; a < kTypes.size(); ++a) {
    for (std::size_t b = 0; b < kTypes.size(); ++b) {
      double z = -0.5;
      double batches = 0;
      for (std::size_t f = 0; f < families; ++f) {
        const auto of = features.of(a);
        const auto beside = features.of(b);
        z += 0.3 * static_cast<double>(f) * of[f] - 0.2 * static_cast<double>(f) * beside[f];
        for (std::size_t g = 0; g < families; ++g) {
          batches += of[families + f] * beside[families + g];
        }
      }
      z += together * batches;
      pairs.push_back({a, b, std::exp(-std::log1p(std::exp(z)))});
    }
  }
  return pairs;
}

TEST_CASE("names of types say families and how large batches are", "[unit][gpu_cluster]") {
  const JobTypeFeatures features(kTypes);
  CHECK(features.num_families() == 4);  // lm, resnet, solo-bx, tiny
  CHECK(features.width() == 9);
  const auto row = [&](std::size_t type) {
    const auto of = features.of(type);
    return std::vector<double>(of.begin(), of.end());
  };
  CHECK(row(0) == std::vector<double>{1, 0, 0, 0, -0.5, 0, 0, 0, 1});
  CHECK(row(1) == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 1});  // half way from 10 to 40
  CHECK(row(4) == std::vector<double>{0, 1, 0, 0, 0, 0.5, 0, 0, 1});
  CHECK(row(6) == std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0, 1});

  const std::vector<std::string> spelled = {"LM (batch size 5)", "LM (batch size 80)",
                                            "A (batch size x)"};
  const JobTypeFeatures of_spelled(spelled);
  CHECK(of_spelled.num_families() == 2);
  CHECK(of_spelled.of(1)[3] == 0.5);

  const std::vector<std::string> endless = {"lm-b5", "lm-binf"};
  CHECK(JobTypeFeatures(endless).num_families() == 2);  // no batch is infinite
}

TEST_CASE("a fit finds what pairs are made of", "[unit][gpu_cluster]") {
  const JobTypeFeatures features(kTypes);
  for (const double together : {0.0, 4.0}) {
    INFO(together);
    const auto pairs = planted(together);
    const InterferenceFit by_features(InterferenceForm::kFeatures, features, kTypes.size(), pairs);
    const InterferenceFit by_effects(InterferenceForm::kEffects, features, kTypes.size(), pairs);
    double worst_features = 0;
    double worst_effects = 0;
    for (const MeasuredPair& pair : pairs) {
      const auto error = [&](const InterferenceFit& fit) {
        return std::abs(fit.share(pair.of, pair.beside) - pair.share) / pair.share;
      };
      worst_features = std::max(worst_features, error(by_features));
      worst_effects = std::max(worst_effects, error(by_effects));
    }
    CHECK(worst_features < 0.2);
    // What is made of two batches together is no sum of effects.
    CHECK((worst_effects < 0.2) == (together == 0));
  }
}

TEST_CASE("a constant is the mean on the scale that is fitted", "[unit][gpu_cluster]") {
  const std::vector<std::string> types = {"a", "b"};
  const JobTypeFeatures features(types);
  std::vector<MeasuredPair> pairs;
  for (int n = 0; n < 100; ++n) pairs.push_back({0, 1, 0.6});
  const InterferenceFit fit(InterferenceForm::kConstant, features, 2, pairs);
  CHECK(fit.share(1, 1) == Approx(0.6).epsilon(1e-3));
}

TEST_CASE("held-out errors are of pairs that were not seen, the same for a seed",
          "[unit][gpu_cluster]") {
  const JobTypeFeatures features(kTypes);
  const auto pairs = planted(4);
  const auto error = [&](InterferenceForm form, Seed seed) {
    return held_out_error(form, features, kTypes.size(), pairs, 5, seed);
  };
  const HeldOutError by_features = error(InterferenceForm::kFeatures, Seed{1});
  CHECK(by_features.mean < error(InterferenceForm::kEffects, Seed{1}).mean);
  CHECK(error(InterferenceForm::kEffects, Seed{1}).mean <
        error(InterferenceForm::kConstant, Seed{1}).mean);
  CHECK(by_features.mean == error(InterferenceForm::kFeatures, Seed{1}).mean);
  CHECK(by_features.mean != error(InterferenceForm::kFeatures, Seed{2}).mean);
  CHECK(by_features.median <= by_features.mean * 2);
  // A pair that is like no other is not known before it is seen: both of its directions are held
  // out together.
  auto odd = pairs;
  for (MeasuredPair& pair : odd) {
    if (pair.of + pair.beside == 1) pair.share = 1e-3;
  }
  const HeldOutError of_odd =
      held_out_error(InterferenceForm::kFeatures, features, kTypes.size(), odd, 5, Seed{1});
  CHECK(of_odd.mean > 2 * 100.0 / static_cast<double>(pairs.size()));
}

TEST_CASE("what a type has of its own is found beside what its family and batch say",
          "[unit][gpu_cluster]") {
  // Twelve batches of one family, every third of which suffers more than its batch says.
  std::vector<std::string> types;
  for (int b = 0; b < 12; ++b) types.push_back("lm-b" + std::to_string(1 << b));
  const JobTypeFeatures features(types);
  std::vector<MeasuredPair> pairs;
  for (std::size_t a = 0; a < types.size(); ++a) {
    for (std::size_t b = 0; b < types.size(); ++b) {
      const double z = 2 * features.of(a)[1] * features.of(b)[1] + (a % 3 == 0 ? 1.5 : -1.5);
      pairs.push_back({a, b, std::exp(-std::log1p(std::exp(z)))});
    }
  }
  const auto error = [&](InterferenceForm form) {
    return held_out_error(form, features, types.size(), pairs, 5, Seed{0}).mean;
  };
  CHECK(error(InterferenceForm::kLatent) < 0.05);
  CHECK(error(InterferenceForm::kLatent) < 0.5 * error(InterferenceForm::kEffects));
  CHECK(error(InterferenceForm::kLatent) < 0.5 * error(InterferenceForm::kFeatures));
}

TEST_CASE("pairs that do not fit on a GPU are foreseen", "[unit][gpu_cluster]") {
  // Two large jobs do not fit together: more than half of what a GPU has, as batches go.
  std::vector<std::string> types;
  for (int b = 0; b < 8; ++b) types.push_back("lm-b" + std::to_string(1 << b));
  const JobTypeFeatures features(types);
  const auto is_fitting = [](std::size_t a, std::size_t b) { return a + b < 9; };
  std::vector<MeasuredPair> pairs;
  for (std::size_t a = 0; a < types.size(); ++a) {
    for (std::size_t b = 0; b < types.size(); ++b) {
      pairs.push_back({a, b, is_fitting(a, b) ? 0.7 : 0.0});
    }
  }
  const auto check = [&](InterferenceForm form) {
    return held_out_error(form, features, types.size(), pairs, 5, Seed{3});
  };
  CHECK(check(InterferenceForm::kConstant).misjudged == Approx(21.0 / 64));  // all are taken to fit
  CHECK(check(InterferenceForm::kLatent).misjudged < 0.2);
  CHECK(check(InterferenceForm::kLatent).mean < 0.05);  // of those that fit

  const InterferenceFit fit(InterferenceForm::kLatent, features, types.size(), pairs);
  CHECK(fit.fits(0, 1));
  CHECK_FALSE(fit.fits(7, 7));
  for (std::size_t a = 0; a < types.size(); ++a) {
    for (std::size_t b = 0; b < types.size(); ++b) CHECK(fit.fits(a, b) == fit.fits(b, a));
  }
  // Nothing that did not fit was ever seen.
  std::erase_if(pairs, [](const MeasuredPair& pair) { return !(pair.share > 0); });
  CHECK(InterferenceFit(InterferenceForm::kLatent, features, types.size(), pairs).fits(7, 7));
}

}  // namespace
}  // namespace pacml::env
