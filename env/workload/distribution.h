#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/fields.h"
#include "common/rng.h"

namespace pacml::env {

enum class DistributionKind { kFixed, kUniform, kPmf, kSkewNormal, kList, kPoisson, kDiurnal };

constexpr auto enum_names(DistributionKind) {
  return std::to_array<EnumName<DistributionKind>>({{"fixed", DistributionKind::kFixed},
                                                    {"uniform", DistributionKind::kUniform},
                                                    {"pmf", DistributionKind::kPmf},
                                                    {"skew_normal", DistributionKind::kSkewNormal},
                                                    {"list", DistributionKind::kList},
                                                    {"poisson", DistributionKind::kPoisson},
                                                    {"diurnal", DistributionKind::kDiurnal}});
}
// Not finitely many values: of times between arrivals alone (arrival_process.h).
constexpr bool is_arrival_process(DistributionKind kind) {
  return kind == DistributionKind::kPoisson || kind == DistributionKind::kDiurnal;
}

// A distribution over finitely many values, or an arrival process. Each kind reads its own keys;
// the others are in range as well.
struct DistributionConfig {
  DistributionKind kind = DistributionKind::kFixed;
  double value = 1.0;                      // fixed; poisson, diurnal: the mean
  double min = 0.1;                        // uniform, skew_normal
  double max = 1.0;                        // uniform, skew_normal
  int decimals = 2;                        // uniform, skew_normal: places of a value; 0 .. 9
  std::map<std::string, double> pmf = {};  // pmf: value -> probability; they sum to 1 within 1e-3
  double skewness = 0.0;             // skew_normal: > 0 has its mass at low values; 0 is a bell
  int num_bins = 1000;               // skew_normal: bins of the histogram; >= 1
  std::uint64_t seed = 0;            // skew_normal: of the variates, hence of the shape
  bool redraw_each_episode = false;  // skew_normal: a new shape for every episode, as published
  double amplitude = 0.5;            // diurnal: how far the rate swings about its mean; 0 .. 1
  double period = 86'400;            // diurnal: a day, in the unit of the values; > 0
  bool operator==(const DistributionConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, DistributionConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("kind", c.kind);
  v("value", c.value);
  v("min", c.min);
  v("max", c.max);
  v("decimals", c.decimals);
  v("pmf", c.pmf);
  v("skewness", c.skewness);
  v("num_bins", c.num_bins);
  v("seed", c.seed);
  v("redraw_each_episode", c.redraw_each_episode);
  v("amplitude", c.amplitude);
  v("period", c.period);
}

// Every problem, as a sentence that begins with the key. Kind `list` is one here: a config that may
// be a list says so itself (requirement.h).
[[nodiscard]] std::vector<std::string> validate(const DistributionConfig& config);

// A probability mass function with a table (Walker's alias method, built as in Vose 1991) that
// turns one random word into one value by a multiplication and a comparison. Immutable.
class Distribution {
 public:
  // Values in any order; the weights of equal values add up, and values of weight 0 are left out.
  // Pre: as many values as weights; values finite; weights finite and >= 0, not all 0
  // (PACML_CHECK).
  Distribution(std::span<const double> values, std::span<const double> weights);

  [[nodiscard]] std::span<const double> values() const { return values_; }  // increasing
  // probabilities()[i] > 0 belongs to values()[i]; they sum to 1.
  [[nodiscard]] std::span<const double> probabilities() const { return probabilities_; }
  [[nodiscard]] double mean() const;

  // The value that a word stands for; a uniformly distributed word gives each value with its
  // probability.
  [[nodiscard]] double value_of(std::uint64_t word) const {
    // High half of the product: the cell. Low half: a uniform fraction within the cell.
    const auto product = static_cast<unsigned __int128>(word) * cells_.size();
    const Cell& cell = cells_[static_cast<std::size_t>(product >> 64)];
    return static_cast<std::uint64_t>(product) < cell.threshold ? cell.value : cell.alias;
  }
  [[nodiscard]] double sample(Rng& rng) const { return value_of(rng.next()); }

 private:
  struct Cell {
    std::uint64_t threshold = 0;  // fractions below it mean `value`, the others `alias`
    double value = 0;
    double alias = 0;
  };
  std::vector<double> values_;
  std::vector<double> probabilities_;
  std::vector<Cell> cells_;  // one per value
};

// Throws UserError with the first problem of validate(config). A skew-normal shape is drawn with
// `config.seed`. Pre: the kind is no arrival process.
[[nodiscard]] Distribution make_distribution(const DistributionConfig& config);

// The decimal number of so many places that is nearest to `value`; exact ties go to the even digit.
[[nodiscard]] double round_to_decimals(double value, int decimals);

// round_to_decimals(min + k h) for k = 0 .. K - 1, with h = 10^-decimals and K = ceil((max + h -
// min) / h) in double arithmetic. The published formula: where that quotient comes out just above a
// whole number the grid ends one step above max (0.01 .. 0.07 also holds 0.08).
[[nodiscard]] std::vector<double> uniform_grid(double min, double max, int decimals);

}  // namespace pacml::env
