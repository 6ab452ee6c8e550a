#include "apps/evaluation/held_out.h"

#include "apps/evaluation/evaluation.h"
#include "common/rng.h"
#include "env/numerics.h"

namespace pacml::apps {

HeldOutEvaluator::HeldOutEvaluator(const env::PartitioningConfig& config,
                                   const std::vector<env::Profile>& profiles,
                                   const model::NetworkShape& shape, Seed run,
                                   std::int64_t episodes)
    : shape_(shape),
      world_(std::make_shared<const env::PartitioningWorld>(config, profiles)),
      environment_(world_) {
  for (std::int64_t e = 0; e < episodes; ++e) {
    seeds_.push_back(derive(run, Purpose::kTuning, static_cast<std::uint64_t>(e)));
  }
}

HeldOutEvaluator::~HeldOutEvaluator() = default;

std::optional<double> HeldOutEvaluator::blocking_rate(const model::Parameters& parameters,
                                                      const std::function<bool()>& goes_on) try {
  TrainedPolicy policy(shape_, parameters, world_->spec().graphs);
  std::vector<double> rates;
  for (const Seed seed : seeds_) {
    const auto result = run_episode_while(environment_, policy, seed, goes_on);
    if (!result) return std::nullopt;
    rates.push_back(result->blocking_rate);
  }
  return seeds_.empty() ? std::numeric_limits<double>::quiet_NaN() : env::pairwise_mean(rates);
} catch (const UnsoundPolicy&) {
  return std::nullopt;
}

}  // namespace pacml::apps
