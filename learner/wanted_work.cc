#include "learner/wanted_work.h"

#include <algorithm>
#include <cstdint>

namespace pacml::learner {
namespace {

constexpr std::uint64_t kMessagesPerBatch = 8;
constexpr std::uint64_t kBatches = 3;  // one to learn from next, two on their way
// So that products do not overflow, whatever the settings.
constexpr std::uint64_t kMost = std::uint64_t{1} << 40;

}  // namespace

serving::WorkWindowConfig wanted_work(const ImpalaConfig& impala, const LearnerConfig& learner) {
  const auto replicas = static_cast<std::uint64_t>(learner.replicas);
  const auto whole = static_cast<std::uint64_t>(impala.batch_decisions);
  const auto lag = static_cast<std::uint64_t>(impala.max_policy_lag);
  const std::uint64_t batch = std::min((whole + replicas - 1) / replicas, kMost);
  serving::WorkWindowConfig work;
  work.most = batch * std::clamp<std::uint64_t>(lag / 2, 1, kMost / batch);
  work.least = std::min(work.most, kBatches * batch);
  work.small = std::max<std::uint64_t>(1, batch / kMessagesPerBatch);
  work.messages_per_actor = static_cast<std::uint64_t>(learner.credits_per_actor);
  work.patience = in_seconds(learner.grant_seconds);
  return work;
}

}  // namespace pacml::learner
