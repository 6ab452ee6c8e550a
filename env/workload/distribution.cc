#include "env/workload/distribution.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "common/check.h"
#include "common/read_number.h"
#include "common/result.h"

namespace pacml::env {
namespace {

constexpr double kMaxGridPoints = 100'000;
constexpr double kMostValue = 1e15;
constexpr int kMostBins = 1'000'000;
constexpr double kPmfSumTolerance = 1e-3;
constexpr double kMinVariates = 50'000;       // of a skew-normal shape, as published
constexpr double kVariatesPerGridPoint = 10;  // likewise

double grid_step(int decimals) { return 1.0 / std::pow(10.0, decimals); }

std::optional<double> parse_number(const std::string& text) {
  const auto value = read_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string to_text(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

void check_grid(const DistributionConfig& config, std::vector<std::string>& problems) {
  if (config.min > config.max) {
    problems.push_back("min (" + to_text(config.min) + ") must not be above max (" +
                       to_text(config.max) + ")");
  }
  if ((config.max - config.min) / grid_step(config.decimals) > kMaxGridPoints) {
    problems.push_back("decimals (" + std::to_string(config.decimals) + ") gives more than " +
                       to_text(kMaxGridPoints) + " values between min and max");
  }
}

void check_pmf(const DistributionConfig& config, std::vector<std::string>& problems) {
  double sum = 0;
  std::vector<double> values;
  for (const auto& [key, probability] : config.pmf) {
    const auto value = parse_number(key);
    if (!value) {
      problems.push_back("pmf has \"" + key + "\" where a finite number is expected");
    } else if (std::abs(*value) > kMostValue) {
      problems.push_back("pmf has the value " + key + "; values must be from -1e15 to 1e15");
    } else if (std::ranges::find(values, *value) != values.end()) {
      problems.push_back("pmf names the value " + to_text(*value) + " twice");
    } else {
      values.push_back(*value);
    }
    if (!std::isfinite(probability) || probability < 0) {
      problems.push_back("pmf gives " + key + " the probability " + to_text(probability) +
                         ", which is not one");
    }
    sum += probability;
  }
  if (problems.empty() && std::abs(sum - 1) > kPmfSumTolerance) {
    problems.push_back("pmf must sum to 1, not " + to_text(sum));
  }
}

void check_skew_normal(const DistributionConfig& config, std::vector<std::string>& problems) {
  check_grid(config, problems);
  if (config.min < 0) problems.push_back("min must be >= 0 for a skew_normal");
  if (config.max <= config.min) problems.push_back("max must be above min for a skew_normal");
}

// A skew-normal variate of shape a is delta |z0| + sqrt(1 - delta^2) z1 with delta = a / sqrt(1 +
// a^2) and standard normal z0, z1 (Azzalini 1985). Its location and scale are lost below.
std::vector<double> skew_normal_variates(double shape, std::size_t count, Rng& rng) {
  const double delta = shape / std::sqrt(1 + shape * shape);
  const double rest = std::sqrt(1 - delta * delta);
  std::vector<double> variates(count);
  for (double& x : variates) {
    const double half_normal = std::abs(rng.normal());
    x = delta * half_normal + rest * rng.normal();
  }
  return variates;
}

// The published construction: variates shifted to start at 0 and scaled to end at max; those below
// min become min; the right edges of a histogram's bins, rounded, are the values.
Distribution make_skew_normal(const DistributionConfig& config) {
  const double wanted =
      kVariatesPerGridPoint * (config.max - config.min) / grid_step(config.decimals);
  Rng rng{Seed{config.seed}};
  std::vector<double> variates = skew_normal_variates(
      config.skewness, static_cast<std::size_t>(std::max(kMinVariates, wanted)), rng);

  const auto [least, greatest] = std::ranges::minmax(variates);
  const double scale = config.max / (greatest - least);
  const double bin_width = (config.max - config.min) / config.num_bins;
  std::vector<double> counts(static_cast<std::size_t>(config.num_bins), 0.0);
  for (const double x : variates) {
    const double value = std::max((x - least) * scale, config.min);
    const auto bin = static_cast<std::size_t>((value - config.min) / bin_width);
    counts[std::min(bin, counts.size() - 1)] += 1;
  }

  std::vector<double> values;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const double right_edge = config.min + static_cast<double>(bin + 1) * bin_width;
    values.push_back(round_to_decimals(right_edge, config.decimals));
  }
  return Distribution(values, counts);
}

Distribution make_pmf(const DistributionConfig& config) {
  std::vector<double> values;
  std::vector<double> weights;
  for (const auto& [key, probability] : config.pmf) {
    values.push_back(parse_number(key).value());
    weights.push_back(probability);
  }
  return Distribution(values, weights);
}

Distribution make_uniform(const DistributionConfig& config) {
  const std::vector<double> grid = uniform_grid(config.min, config.max, config.decimals);
  return Distribution(grid, std::vector<double>(grid.size(), 1.0));
}

}  // namespace

std::vector<std::string> validate(const DistributionConfig& config) {
  std::vector<std::string> problems;
  // Also what this kind does not read: nobody means it.
  for (const auto& [key, value] : {std::pair{"value", config.value},
                                   {"min", config.min},
                                   {"max", config.max},
                                   {"skewness", config.skewness},
                                   {"period", config.period}}) {
    if (!(std::abs(value) <= kMostValue)) {
      problems.push_back(std::string(key) + " must be from -1e15 to 1e15");
    }
  }
  if (!(config.amplitude >= 0 && config.amplitude <= 1)) {
    problems.emplace_back("amplitude must be from 0 to 1");
  }
  if (!(config.period > 0)) problems.emplace_back("period must be above 0");
  if (config.decimals < 0 || config.decimals > 9) {
    problems.push_back("decimals must be 0 to 9, not " + std::to_string(config.decimals));
  }
  if (config.num_bins < 1 || config.num_bins > kMostBins) {
    problems.push_back("num_bins must be 1 to " + std::to_string(kMostBins));
  }
  if (!config.pmf.empty()) check_pmf(config, problems);
  if (!problems.empty()) return problems;
  switch (config.kind) {
    case DistributionKind::kFixed:
      break;
    case DistributionKind::kUniform:
      check_grid(config, problems);
      break;
    case DistributionKind::kPmf:
      if (config.pmf.empty()) problems.emplace_back("pmf must name at least one value");
      break;
    case DistributionKind::kSkewNormal:
      check_skew_normal(config, problems);
      break;
    case DistributionKind::kList:
      problems.push_back("kind must not be list here");
      break;
    case DistributionKind::kPoisson:
    case DistributionKind::kDiurnal:
      break;
  }
  return problems;
}

Distribution::Distribution(std::span<const double> values, std::span<const double> weights) {
  PACML_CHECK(values.size() == weights.size(), "every value needs its weight");
  std::vector<std::pair<double, double>> entries;
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    PACML_CHECK(std::isfinite(values[i]) && std::isfinite(weights[i]) && weights[i] >= 0,
                "values are finite, weights finite and not negative");
    if (weights[i] > 0) entries.emplace_back(values[i], weights[i]);
    total += weights[i];
  }
  PACML_CHECK(total > 0, "at least one value has a positive weight");
  std::ranges::sort(entries);
  for (const auto& [value, weight] : entries) {
    if (values_.empty() || values_.back() != value) {
      values_.push_back(value);
      probabilities_.push_back(0);
    }
    probabilities_.back() += weight / total;
  }

  // Alias table: every cell holds the share 1/n. A value with less than that leaves room, which one
  // with more fills; each pairing settles one cell for good.
  const std::size_t n = values_.size();
  cells_.resize(n);
  std::vector<double> share(n);  // of the cell's own value, as a fraction of the cell
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (std::size_t i = 0; i < n; ++i) {
    share[i] = probabilities_[i] * static_cast<double>(n);
    (share[i] < 1 ? small : large).push_back(i);
    cells_[i] = {.threshold = UINT64_MAX, .value = values_[i], .alias = values_[i]};
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t low = small.back();
    const std::size_t high = large.back();
    small.pop_back();
    cells_[low].threshold = static_cast<std::uint64_t>(share[low] * 0x1.0p64);
    cells_[low].alias = values_[high];
    share[high] -= 1 - share[low];
    if (share[high] < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
}

double Distribution::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) sum += values_[i] * probabilities_[i];
  return sum;
}

Distribution make_distribution(const DistributionConfig& config) {
  if (const auto problems = validate(config); !problems.empty()) throw UserError(problems.front());
  switch (config.kind) {
    case DistributionKind::kUniform:
      return make_uniform(config);
    case DistributionKind::kPmf:
      return make_pmf(config);
    case DistributionKind::kSkewNormal:
      return make_skew_normal(config);
    case DistributionKind::kFixed:
    case DistributionKind::kList:  // refused by validate
    case DistributionKind::kPoisson:
    case DistributionKind::kDiurnal:
      break;
  }
  return Distribution(std::array{config.value}, std::array{1.0});
}

double round_to_decimals(double value, int decimals) {
  // Text rounds the exact binary value, which multiplying by a power of ten would disturb.
  std::array<char, 400> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::fixed, decimals);
  PACML_CHECK(error == std::errc{}, "any double fits into 400 characters");
  double rounded = 0;
  std::from_chars(text.data(), end, rounded);
  return rounded;
}

std::vector<double> uniform_grid(double min, double max, int decimals) {
  const double step = grid_step(decimals);
  // Far from 0 a step may be too small to tell.
  const auto count = static_cast<std::int64_t>(std::max(1.0, std::ceil((max + step - min) / step)));
  std::vector<double> grid;
  for (std::int64_t k = 0; k < count; ++k) {
    grid.push_back(round_to_decimals(min + static_cast<double>(k) * step, decimals));
  }
  return grid;
}

}  // namespace pacml::env
