#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <vector>

#include "env/graph_features.h"
#include "learner/transition_source.h"
#include "replay/client.h"

namespace pacml::apps {

// A learner's batches out of replay shards: the learner's seam on the replay's client. Borrows the
// client, which another thread runs. Every learner hears of every insertion; where there are
// several, the leader counts them. Thread-confined to the learner thread.
class ReplaySource final : public learner::TransitionSource {
 public:
  explicit ReplaySource(replay::Client& client, bool counts_insertions = true)
      : client_(&client), counts_insertions_(counts_insertions) {}

  Result<learner::SampledTransitions> next(std::stop_token stop, Deadline deadline) override;
  void report_priorities(std::uint64_t ticket, std::span<const float> priorities) override;
  [[nodiscard]] News take_news() override;
  // Items that each shard had taken in by the last news, which is what the learner has counted.
  [[nodiscard]] const std::vector<std::uint64_t>& totals() const { return totals_; }
  void count_from(std::vector<std::uint64_t> totals) {
    client_->count_from(totals);
    totals_ = std::move(totals);
  }
  [[nodiscard]] std::size_t queue_depth() const override { return client_->queue_depth(); }

 private:
  replay::Client* client_;
  bool counts_insertions_;
  std::unordered_map<GraphHash, env::GraphFeaturesPtr> graphs_;
  std::vector<std::uint64_t> totals_;
};

}  // namespace pacml::apps
