#include "learner/wanted_work.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pacml::learner {
namespace {

constexpr std::uint64_t kMessagesPerBatch = 8;
constexpr std::uint64_t kBatches = 3;  // one to learn from next, two on their way
// So that products do not overflow, whatever the settings.
constexpr std::uint64_t kMost = std::uint64_t{1} << 40;

}  // namespace

serving::WorkWindowConfig wanted_work(const UpdateSize& update, const LearnerConfig& learner) {
  const auto replicas = static_cast<std::uint64_t>(learner.replicas);
  const auto whole = static_cast<std::uint64_t>(update.batch_decisions);
  const auto lag = static_cast<std::uint64_t>(update.max_policy_lag);
  const std::uint64_t batch = std::min((whole + replicas - 1) / replicas, kMost);
  serving::WorkWindowConfig work;
  work.most = batch * std::clamp<std::uint64_t>(lag / 2, 1, kMost / batch);
  work.least = std::min(work.most, kBatches * batch);
  work.small = std::max<std::uint64_t>(1, batch / kMessagesPerBatch);
  work.batch = batch;
  work.messages_per_actor = static_cast<std::uint64_t>(learner.credits_per_actor);
  work.patience = in_seconds(learner.grant_seconds);
  return work;
}

std::uint64_t refresh_lag(const serving::WorkWindow& work, std::uint64_t max_policy_lag) {
  const std::uint64_t half = max_policy_lag / 2;
  const auto under_way =
      static_cast<std::uint64_t>(std::ceil(work.opened() * static_cast<double>(half)));
  return std::max<std::uint64_t>(1, (max_policy_lag - std::min(max_policy_lag, under_way)) / 2);
}

}  // namespace pacml::learner
