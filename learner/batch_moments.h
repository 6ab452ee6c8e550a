#pragma once

#include <span>

namespace pacml::learner {

// What is left of a batch's values where several batches count as one: each replica has these of
// its share, and the whole batch's follow without the values. Value types; the functions are pure.

// For the mean and the deviation: sums of deviations are kept about the part's own mean, so that
// nothing cancels (Chan et al. 1979, eq. 2.1).
struct BatchMoments {
  double count = 0;
  double sum = 0;
  double squares = 0;  // sum of (value - mean)^2, about the mean of this part

  [[nodiscard]] double mean() const { return count > 0 ? sum / count : 0; }
  [[nodiscard]] double deviation() const;  // of the population; 0 where nothing counts
};

// A value counts where its weight is above 0. Pre: equal lengths (PACML_CHECK).
[[nodiscard]] BatchMoments moments(std::span<const float> values, std::span<const float> weights);
[[nodiscard]] BatchMoments merge(std::span<const BatchMoments> parts);

// Takes the mean of `batch` off values of it, and divides by the deviation. A batch whose values
// hardly differ says nothing, and is not blown up to say something.
void standardise(const BatchMoments& batch, std::span<float> values);

// Of values that count by importance: of A and rho, where what is at hand are the products rho A.
// A mean that is taken off A inside the product is a baseline, and leaves the expected policy
// gradient as it is (but for what the clip of rho takes); taken off the product it would not.
struct ImportanceSums {
  double count = 0;
  double ratio = 0;         // sums of rho,
  double ratio_square = 0;  // rho^2,
  double product = 0;       // rho A,
  double cross = 0;         // rho^2 A
  double square = 0;        // and (rho A)^2
  ImportanceSums& operator+=(const ImportanceSums& other);
  [[nodiscard]] double mean() const;       // of A by importance; 0 where nothing counts
  [[nodiscard]] double deviation() const;  // of rho (A - mean), whose mean is 0
};

// As moments(), of rho A and rho.
[[nodiscard]] ImportanceSums importance_sums(std::span<const float> products,
                                             std::span<const float> ratios,
                                             std::span<const float> weights);
// Makes rho (A - mean) / deviation of products rho A; the rest as above.
void standardise(const ImportanceSums& batch, std::span<const float> ratios,
                 std::span<float> products);

// The share of the targets' variance that predictions with such errors explain.
[[nodiscard]] double explained_variance(const BatchMoments& errors, const BatchMoments& targets);

// For running moments, which add up values and squares as they are.
struct TargetSums {
  double count = 0;
  double sum = 0;
  double square = 0;  // sum of value^2
  TargetSums& operator+=(const TargetSums& other) {
    count += other.count;
    sum += other.sum;
    square += other.square;
    return *this;
  }
};

// As moments().
[[nodiscard]] TargetSums target_sums(std::span<const float> targets,
                                     std::span<const float> weights);

}  // namespace pacml::learner
