#include "learner/replay_updates.h"

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

Result<UpdateReport> ReplayUpdates::next(const std::stop_token& stop, Deadline deadline,
                                         LearnerRecord& record) {
  const auto sampled = fitting_batch(stop, deadline, record);
  const TransitionSource::News news = source_->take_news();
  record.counters.decisions += news.inserted;
  for (const EpisodeRecord& episode : news.episodes) record.add(episode);
  if (!sampled) return tl::unexpected(sampled.error());

  assemble(sampled->transitions, sampled->probabilities, graphs_, batch_);
  for (const PolicyVersion version : batch_.policy_versions) {
    record.add_lag(algorithm_->version(), version, 1);
  }
  UpdateReport report = algorithm_->update(batch_);
  source_->report_priorities(sampled->ticket, report.priorities);
  return report;
}

}  // namespace pacml::learner
