#include "learner/replay_updates.h"

#include <utility>

#include "learner/fits.h"

namespace pacml::learner {

ReplayUpdates::ReplayUpdates(TransitionAlgorithm& algorithm, const model::NetworkShape& shape,
                             TransitionSource& source)
    : algorithm_(&algorithm), shape_(shape), source_(&source) {}

Result<SampledTransitions> ReplayUpdates::fitting_batch(const std::stop_token& stop,
                                                        Deadline deadline, LearnerRecord& record) {
  for (;;) {
    auto sampled = source_->next(stop, deadline);
    if (!sampled) return sampled;
    if (graphs_.add_readable(sampled->graphs, shape_)) algorithm_->set_graphs(graphs_.graphs());
    if (fits(sampled->transitions, shape_, graphs_) && sampled->transitions.size() > 0) {
      return sampled;
    }
    ++record.counters.misfits;
    source_->report_priorities(sampled->ticket, {});
    // A source that is full of misfits never waits, so nobody else would look at these.
    if (stop.stop_requested()) return fail(Errc::kStopped);
    if (deadline.expired()) return fail(Errc::kTimeout);
  }
}

Result<void> ReplayUpdates::collect(std::int64_t, const std::stop_token& stop, Deadline deadline,
                                    LearnerRecord& record) {
  if (sampled_) return {};
  auto sampled = fitting_batch(stop, deadline, record);
  const TransitionSource::News news = source_->take_news();
  record.counters.decisions += news.inserted;
  for (const EpisodeRecord& episode : news.episodes) record.add(episode);
  if (!sampled) return tl::unexpected(sampled.error());

  sampled_ = *std::move(sampled);
  assemble(sampled_->transitions, sampled_->probabilities, graphs_, batch_);
  for (const PolicyVersion version : batch_.policy_versions) {
    record.add_lag(algorithm_->version(), version, 1);
  }
  for (const std::int32_t action : batch_.actions) record.add_action(action);
  return {};
}

std::int64_t ReplayUpdates::collected() const {
  return sampled_ ? static_cast<std::int64_t>(sampled_->transitions.size()) : 0;
}

Result<UpdateReport> ReplayUpdates::learn() {
  if (!sampled_) return algorithm_->update({});
  auto report = algorithm_->update(batch_);
  if (!report) return report;
  source_->report_priorities(sampled_->ticket, report->priorities);
  sampled_.reset();
  return report;
}

}  // namespace pacml::learner
