#include "learner/sequence_updates.h"

#include <utility>

#include "learner/fits.h"

namespace pacml::learner {

SequenceUpdates::SequenceUpdates(SequenceAlgorithm& algorithm, const model::NetworkShape& shape,
                                 SampleSource& source, std::int64_t batch_decisions)
    : algorithm_(&algorithm), shape_(shape), source_(&source), batch_decisions_(batch_decisions) {}

bool SequenceUpdates::accept(ReceivedSequences&& received, LearnerRecord& record) {
  if (graphs_.add_readable(received.graphs, shape_)) algorithm_->set_graphs(graphs_.graphs());
  // Its room goes back now, not with the update: among replicas, an update may take more than one's
  // window. What is gathered stays below a batch and one message.
  source_->consumed(received);
  const Sequences& sequences = received.sequences;
  const bool searched = sequences.num_decisions() == 0 || !sequences.action_values.empty();
  if (!fits(sequences, shape_, graphs_) || (algorithm_->learns_from_searches() && !searched)) {
    ++record.counters.misfits;
    return false;
  }
  const auto decisions = static_cast<std::int64_t>(sequences.num_decisions());
  record.counters.decisions += decisions;
  for (const VersionRun& run : sequences.versions) {
    record.add_lag(algorithm_->version(), run.version, run.decisions);
  }
  for (const std::int16_t action : sequences.action) record.add_action(action);
  for (const EpisodeRecord& episode : sequences.episodes) record.add(episode);
  gathered_decisions_ += decisions;
  gathered_.push_back(std::move(received));
  return true;
}

Result<void> SequenceUpdates::collect(std::int64_t count, const std::stop_token& stop,
                                      Deadline deadline, LearnerRecord& record) {
  while (gathered_decisions_ < count) {
    auto received = source_->next(stop, deadline);
    if (!received) return tl::unexpected(received.error());
    if (accept(*std::move(received), record)) continue;
    // A source that is full of misfits never waits, so nobody else would look at these.
    if (stop.stop_requested()) return fail(Errc::kStopped);
    if (deadline.expired()) return fail(Errc::kTimeout);
  }
  return {};
}

Result<UpdateReport> SequenceUpdates::learn() {
  messages_.clear();
  for (const auto& received : gathered_) messages_.push_back(&received.sequences);
  if (messages_.empty()) {
    batch_ = {};
  } else {
    assemble(messages_, graphs_, batch_);
  }
  auto report = algorithm_->update(batch_);
  if (!report) return report;
  gathered_.clear();
  gathered_decisions_ = 0;
  return report;
}

}  // namespace pacml::learner
