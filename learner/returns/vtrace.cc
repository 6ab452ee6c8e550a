#include "learner/returns/vtrace.h"

#include <algorithm>
#include <cmath>

#include "common/check.h"
#include "learner/returns/over_time.h"

namespace pacml::learner {
namespace {

// exp(20) is 5e8: far beyond every clip, far below what overflows.
constexpr double kMaxLogRho = 20.0;

double lambda_of(float elapsed, const VtraceConfig& config) {
  const bool is_of_time = config.lambda_per == LambdaUnit::kTime;
  return is_of_time ? over_time(config.lambda, elapsed) : config.lambda;
}

}  // namespace

std::vector<std::string> validate(const VtraceConfig& config) {
  std::vector<std::string> problems;
  const auto positive = [&problems](const char* key, double value) {
    if (value > 0) return;
    problems.push_back(std::string(key) + " must be greater than 0, not " + std::to_string(value));
  };
  positive("clip_rho", config.clip_rho);
  positive("clip_c", config.clip_c);
  positive("clip_advantage", config.clip_advantage);
  if (!(config.clip_rho >= config.clip_c)) {
    problems.push_back("clip_rho must be at least clip_c (" + std::to_string(config.clip_c) +
                       "), not " + std::to_string(config.clip_rho));
  }
  const bool lambda_is_share = config.lambda >= 0 && config.lambda <= 1;
  if (!lambda_is_share) {
    problems.push_back("lambda must be from 0 to 1, not " + std::to_string(config.lambda));
  }
  return problems;
}

VtraceReturns vtrace(const VtraceInputs& in, const VtraceConfig& config) {
  const std::size_t size = in.log_rhos.size();
  PACML_CHECK(in.discounts.size() == size && in.elapsed.size() == size &&
                  in.rewards.size() == size && in.values.size() == size &&
                  in.next_values.size() == size && in.ends.size() == size,
              "V-trace inputs are all [D]");
  VtraceReturns out{std::vector<float>(size), std::vector<float>(size), std::vector<float>(size)};
  std::size_t end = 0;
  for (const SequenceRange& sequence : in.sequences) {
    PACML_CHECK(sequence.first == end && sequence.length <= size - end,
                "sequences follow one another");
    end += sequence.length;
    double correction = 0;  // v_{t+1} - V_{t+1}
    for (std::size_t i = end; i-- > sequence.first;) {
      const double ratio =
          std::exp(std::clamp(static_cast<double>(in.log_rhos[i]), -kMaxLogRho, kMaxLogRho));
      const double rho = std::min(config.clip_rho, ratio);
      const double c = lambda_of(in.elapsed[i], config) * std::min(config.clip_c, ratio);
      const double discount = in.discounts[i];
      const double value = in.values[i];
      const double carried = in.ends[i] != 0 ? 0.0 : correction;
      const double next_value = in.next_values[i];
      const double delta = in.rewards[i] + discount * next_value - value;
      correction = rho * delta + discount * c * carried;
      out.targets[i] = static_cast<float>(value + correction);
      const double clipped = std::min(config.clip_advantage, ratio);
      out.advantages[i] = static_cast<float>(clipped * (delta + discount * carried));
      out.ratios[i] = static_cast<float>(clipped);
    }
  }
  PACML_CHECK(end == size, "every decision is in a sequence");
  return out;
}

}  // namespace pacml::learner
