#include "learner/batch_moments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/check.h"

namespace pacml::learner {
namespace {

constexpr double kLeastDeviation = 1e-6;

}  // namespace

double BatchMoments::deviation() const { return count > 0 ? std::sqrt(squares / count) : 0; }

BatchMoments moments(std::span<const float> values, std::span<const float> weights) {
  PACML_CHECK(values.size() == weights.size(), "one weight per value");
  BatchMoments out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    out.sum += values[i];
    out.count += 1;
  }
  const double mean = out.mean();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    out.squares += (values[i] - mean) * (values[i] - mean);
  }
  return out;
}

BatchMoments merge(std::span<const BatchMoments> parts) {
  BatchMoments out;
  for (const BatchMoments& part : parts) {
    out.count += part.count;
    out.sum += part.sum;
  }
  const double mean = out.mean();
  for (const BatchMoments& part : parts) {
    const double apart = part.mean() - mean;
    out.squares += part.squares + part.count * apart * apart;
  }
  return out;
}

void standardise(const BatchMoments& batch, std::span<float> values) {
  const double mean = batch.mean();
  const double deviation = std::max(batch.deviation(), kLeastDeviation);
  for (float& value : values) value = static_cast<float>((value - mean) / deviation);
}

ImportanceSums& ImportanceSums::operator+=(const ImportanceSums& other) {
  count += other.count;
  ratio += other.ratio;
  ratio_square += other.ratio_square;
  product += other.product;
  cross += other.cross;
  square += other.square;
  return *this;
}

double ImportanceSums::mean() const { return ratio > 0 ? product / ratio : 0; }

double ImportanceSums::deviation() const {
  if (!(count > 0)) return 0;
  const double squares = square - 2 * mean() * cross + mean() * mean() * ratio_square;
  return std::sqrt(std::max(squares, 0.0) / count);
}

ImportanceSums importance_sums(std::span<const float> products, std::span<const float> ratios,
                               std::span<const float> weights) {
  PACML_CHECK(products.size() == ratios.size() && products.size() == weights.size(),
              "one ratio and one weight per value");
  ImportanceSums out;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    const double product = products[i];
    const double ratio = ratios[i];
    out.count += 1;
    out.ratio += ratio;
    out.ratio_square += ratio * ratio;
    out.product += product;
    out.cross += ratio * product;
    out.square += product * product;
  }
  return out;
}

void standardise(const ImportanceSums& batch, std::span<const float> ratios,
                 std::span<float> products) {
  PACML_CHECK(products.size() == ratios.size(), "one ratio per value");
  const double mean = batch.mean();
  // Products and ratios were rounded one by one, so that a mean never comes off entirely.
  const double least = kLeastDeviation * std::max(1.0, std::abs(mean));
  const double deviation = std::max(batch.deviation(), least);
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i] = static_cast<float>((products[i] - mean * ratios[i]) / deviation);
  }
}

double explained_variance(const BatchMoments& errors, const BatchMoments& targets) {
  const double error = errors.deviation();
  const double target = targets.deviation();
  return target > 0 ? 1 - (error * error) / (target * target) : 0;
}

TargetSums target_sums(std::span<const float> targets, std::span<const float> weights) {
  PACML_CHECK(targets.size() == weights.size(), "one weight per target");
  TargetSums out;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    if (!(weights[n] > 0)) continue;
    const double target = targets[n];
    out.sum += target;
    out.square += target * target;
    out.count += 1;
  }
  return out;
}

}  // namespace pacml::learner
