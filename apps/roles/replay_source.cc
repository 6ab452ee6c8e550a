#include "apps/roles/replay_source.h"

#include <utility>
#include <vector>

#include "env/graph_message.h"

namespace pacml::apps {

Result<learner::SampledTransitions> ReplaySource::next(std::stop_token stop, Deadline deadline) {
  auto batch = client_->next(std::move(stop), deadline);
  if (!batch) return tl::unexpected(batch.error());
  learner::SampledTransitions out;
  out.transitions = std::move(batch->transitions);
  out.probabilities = std::move(batch->probabilities);
  out.ticket = batch->ticket;
  for (const auto& graph : batch->graphs) {
    auto& features = graphs_[graph->hash];
    if (!features) features = env::from_message(*graph);
    out.graphs.push_back(features);
  }
  return out;
}

void ReplaySource::report_priorities(std::uint64_t ticket, std::span<const float> priorities) {
  client_->report_priorities(ticket, {priorities.begin(), priorities.end()});
}

learner::TransitionSource::News ReplaySource::take_news() {
  auto news = client_->take_news();
  totals_ = std::move(news.totals);
  const std::uint64_t inserted = counts_insertions_ ? news.inserted : 0;
  return {static_cast<std::int64_t>(inserted), std::move(news.episodes)};
}

}  // namespace pacml::apps
